import { type ErrorCode, createFinding, secretMask } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type Fields, isMapping, toFields } from '../fields.ts';
import { mergeDefinition } from '../overrides.ts';
import { type SecretField, findChangedBindings, maskSecrets } from '../secretFields.ts';
import { createConfigError, withoutNulls } from './validate.ts';

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

interface RestoredDefinition {
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

/** Shown as they are. Whatever is not listed is masked, also what a definition may say one day. */
const visibleKeys: ReadonlySet<string> = new Set([
  'type',
  'url',
  'title',
  'description',
  'iconPath',
  'startup',
  'timeout',
  'initTimeout',
  'sseReadTimeout',
  'chatMenu',
  'serverInstructions',
  'requiresOAuth',
  'customUserVars',
  'auth',
  'exclusive',
  'access',
  'tools',
  'trustAnnotations',
  'idempotentTools',
  'era',
  'relay',
  'obo',
  'caFile',
]);
/** Sections of which only this is a secret. */
const sectionSecretNames: Readonly<Record<string, string>> = { apiKey: 'key', oauth: 'client_secret' };

/** An override as administrators read it back: they may send it again as it is, and the secrets stay. */
export function maskOverride(definition: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(toFields(definition)).map(([key, value]) => [key, maskField(key, value)]),
  );
}

function maskField(key: string, value: unknown): unknown {
  // `null` takes a field of the file away, and is no secret.
  if (visibleKeys.has(key) || value === null) return value;
  const secretName = sectionSecretNames[key];
  if (secretName === undefined) return maskValue(value);
  const section = toFields(value);
  return typeof section[secretName] === 'string' ? { ...section, [secretName]: secretMask } : section;
}

function maskValue(value: unknown): unknown {
  if (value === null) return null;
  if (!isMapping(value)) return secretMask;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskValue(item)]));
}

interface RestoredOverride {
  readonly definition: Fields;
  /** Which secrets are the stored ones. */
  readonly retainedSecrets: readonly SecretField[];
}

/** A secret that only an operator can name goes where the headers go. */
function getSecretField(key: string | undefined): SecretField {
  if (key === 'apiKey') return 'apiKey.key';
  // Those that are sent to the authorization server are bound to it.
  return key === 'oauth' || key === 'oauth_headers' ? 'oauth.client_secret' : 'headers';
}

/** Puts what is stored in the place of masks. */
export function restoreOverrideSecrets(input: Fields, stored: unknown): RestoredOverride {
  const retained = new Set<SecretField>();
  const restoreMask = (value: unknown, storedValue: unknown, path: readonly string[]): unknown => {
    if (value === secretMask) {
      if (storedValue === undefined || storedValue === null)
        throw createConfigError([createFinding(path, 'mask', 'is a mask, but no secret is stored')]);
      retained.add(getSecretField(path[0]));
      return storedValue;
    }
    if (!isMapping(value)) return value;
    const storedFields = toFields(storedValue);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, restoreMask(item, storedFields[key], [...path, key])]),
    );
  };
  const definition = toFields(restoreMask(input, stored, []));
  return { definition, retainedSecrets: [...retained] };
}
