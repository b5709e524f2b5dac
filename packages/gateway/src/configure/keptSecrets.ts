import { finding, secretMask, type ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { fieldsOf, isMapping, type Fields } from '../registry/canonical.ts';
import { mergeDefinition } from '../registry/override.ts';
import { changedBindings } from '../registry/secretBindings.ts';
import { maskSecrets, type SecretField } from '../registry/secretFields.ts';
import { invalid, withoutNulls } from './readInput.ts';

/** `replace`: what is left out is gone, but for secrets, which nobody can send back. `merge`: RFC 7396. */
export type ChangeMode = 'replace' | 'merge';

/** The definition that was asked for, with a mask where a secret is to stay. */
export function withMasks(input: Fields, stored: unknown, mode: ChangeMode): Fields {
  if (mode === 'merge') return withoutNulls(fieldsOf(mergeDefinition(maskSecrets(stored), input)));
  const { headers, apiKey, oauth } = maskSecrets(stored);
  const kept: Record<string, unknown> = { ...input };
  if (!Object.hasOwn(input, 'headers') && headers !== undefined) kept['headers'] = headers;
  keep(kept, 'apiKey', 'key', fieldsOf(apiKey));
  keep(kept, 'oauth', 'client_secret', fieldsOf(oauth));
  return withoutNulls(kept);
}

function keep(input: Record<string, unknown>, section: string, name: string, stored: Fields): void {
  const asked = input[section];
  if (!isMapping(asked) || Object.hasOwn(asked, name) || stored[name] === undefined) return;
  input[section] = { ...asked, [name]: stored[name] };
}

export interface Filled {
  readonly definition: Fields;
  /** Which secrets are the stored ones. */
  readonly kept: readonly SecretField[];
}

/** Puts the stored secrets in the place of masks. Nothing of it may be used before `requireSameBinding`. */
export function fillMasks(masked: Fields, stored: unknown): Filled {
  const kept = new Set<SecretField>();
  const known = fieldsOf(stored);
  const fill = (value: unknown, secret: unknown, field: SecretField, path: readonly string[]): unknown => {
    if (value !== secretMask) return value;
    if (typeof secret !== 'string')
      throw invalid([finding(path, 'mask', 'is a mask, and no secret is known')]);
    kept.add(field);
    return secret;
  };
  const definition: Record<string, unknown> = { ...masked };
  const { headers, apiKey, oauth } = masked;
  if (isMapping(headers)) {
    const before = new Map(
      Object.entries(fieldsOf(known['headers'])).map(([name, value]) => [name.toLowerCase(), value]),
    );
    definition['headers'] = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        fill(value, before.get(name.toLowerCase()), 'headers', ['headers', name]),
      ]),
    );
  }
  if (isMapping(apiKey) && Object.hasOwn(apiKey, 'key')) {
    const { key, ...rest } = apiKey;
    // A key of the author is of no use where each user enters their own.
    const isDropped = key === secretMask && apiKey['source'] === 'user';
    const secret = fieldsOf(known['apiKey'])['key'];
    definition['apiKey'] = isDropped
      ? rest
      : { ...rest, key: fill(key, secret, 'apiKey.key', ['apiKey', 'key']) };
  }
  if (isMapping(oauth) && Object.hasOwn(oauth, 'client_secret')) {
    const secret = fieldsOf(known['oauth'])['client_secret'];
    const path = ['oauth', 'client_secret'];
    definition['oauth'] = {
      ...oauth,
      client_secret: fill(oauth['client_secret'], secret, 'oauth.client_secret', path),
    };
  }
  return { definition, kept: [...kept] };
}

/**
 * A secret never goes anywhere its author did not send it: who changes where it goes, enters it again. Otherwise an
 * editor could point the server at a machine of their own and read there what no answer of ours shows.
 */
export function requireSameBinding(kept: readonly SecretField[], before: unknown, after: unknown): void {
  for (const field of kept) {
    const changed = changedBindings(field, before, after);
    if (changed.length > 0) throw reentry(field, changed);
  }
}

function reentry(field: SecretField, changed: readonly string[]): GatewayError {
  const code: ErrorCode =
    field === 'oauth.client_secret' ? 'MCP_OAUTH_SECRET_REENTRY_REQUIRED' : 'MCP_SECRET_REENTRY_REQUIRED';
  return new GatewayError(code, {
    changedFields: changed,
    errors: changed.map((path) => ({
      path: `config.${path}`,
      code: 'secret_binding',
      message: `has changed, so ${field} must be entered again`,
    })),
  });
}
