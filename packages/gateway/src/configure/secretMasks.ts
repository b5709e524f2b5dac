import { createFinding, secretMask, type ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { toFields, isMapping, type Fields } from '../registry/canonicalFields.ts';
import { mergeDefinition } from '../registry/override.ts';
import { findChangedBindings } from '../registry/secretBindings.ts';
import { maskSecrets, type SecretField } from '../registry/secretFields.ts';
import { createConfigError, withoutNulls } from './readInput.ts';

/** `replace`: what is left out is gone, but for secrets, which nobody can send back. `merge`: RFC 7396. */
export type ChangeMode = 'replace' | 'merge';

/** The definition that was asked for, with a mask where a secret is to stay. */
export function addMasks(input: Fields, stored: unknown, mode: ChangeMode): Fields {
  if (mode === 'merge') return withoutNulls(toFields(mergeDefinition(maskSecrets(stored), input)));
  const { headers, apiKey, oauth } = maskSecrets(stored);
  const masked: Record<string, unknown> = { ...input };
  if (!Object.hasOwn(input, 'headers') && headers !== undefined) masked['headers'] = headers;
  retainMask(masked, 'apiKey', 'key', toFields(apiKey));
  retainMask(masked, 'oauth', 'client_secret', toFields(oauth));
  return withoutNulls(masked);
}

function retainMask(input: Record<string, unknown>, section: string, name: string, stored: Fields): void {
  const requested = input[section];
  if (!isMapping(requested) || Object.hasOwn(requested, name) || stored[name] === undefined) return;
  input[section] = { ...requested, [name]: stored[name] };
}

export interface RestoredDefinition {
  readonly definition: Fields;
  /** Which secrets are the stored ones. */
  readonly retainedSecrets: readonly SecretField[];
}

/** Puts the stored secrets in the place of masks. Nothing of it may be used before `requireSameBinding`. */
export function restoreMaskedSecrets(masked: Fields, stored: unknown): RestoredDefinition {
  const retained = new Set<SecretField>();
  const storedFields = toFields(stored);
  const restoreMask = (
    value: unknown,
    secret: unknown,
    field: SecretField,
    path: readonly string[],
  ): unknown => {
    if (value !== secretMask) return value;
    if (typeof secret !== 'string')
      throw createConfigError([createFinding(path, 'mask', 'is a mask, but no secret is stored')]);
    retained.add(field);
    return secret;
  };
  const definition: Record<string, unknown> = { ...masked };
  const { headers, apiKey, oauth } = masked;
  if (isMapping(headers)) {
    const before = new Map(
      Object.entries(toFields(storedFields['headers'])).map(([name, value]) => [name.toLowerCase(), value]),
    );
    definition['headers'] = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        restoreMask(value, before.get(name.toLowerCase()), 'headers', ['headers', name]),
      ]),
    );
  }
  if (isMapping(apiKey) && Object.hasOwn(apiKey, 'key')) {
    const { key, ...rest } = apiKey;
    // A key of the author is of no use where each user enters their own.
    const isDropped = key === secretMask && apiKey['source'] === 'user';
    const secret = toFields(storedFields['apiKey'])['key'];
    definition['apiKey'] = isDropped
      ? rest
      : { ...rest, key: restoreMask(key, secret, 'apiKey.key', ['apiKey', 'key']) };
  }
  if (isMapping(oauth) && Object.hasOwn(oauth, 'client_secret')) {
    const secret = toFields(storedFields['oauth'])['client_secret'];
    const path = ['oauth', 'client_secret'];
    definition['oauth'] = {
      ...oauth,
      client_secret: restoreMask(oauth['client_secret'], secret, 'oauth.client_secret', path),
    };
  }
  return { definition, retainedSecrets: [...retained] };
}

/**
 * A secret never goes anywhere its author did not send it: who changes where it goes, enters it again. Otherwise an
 * editor could point the server at a machine of their own and read there what no answer of ours shows.
 */
export function requireSameBinding(
  retainedSecrets: readonly SecretField[],
  before: unknown,
  after: unknown,
): void {
  for (const field of retainedSecrets) {
    const changed = findChangedBindings(field, before, after);
    if (changed.length > 0) throw createReentryError(field, changed);
  }
}

function createReentryError(field: SecretField, changed: readonly string[]): GatewayError {
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
