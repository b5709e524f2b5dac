/**
 * Secrets in definitions: which fields hold one, how they are masked in answers, and when a stored secret must be
 * entered again.
 *
 * Invariants:
 * - No answer contains a secret. `maskSecrets` masks every field that is not known to be harmless.
 * - A stored secret is sent only to the destination that its author chose. If a field that determines the destination
 *   changes, the secret must be entered again (`requireSameBinding`). Otherwise an editor could point the server at
 *   another host and read the secret there.
 * - A value that a user entered for a server is deleted when the destination changes (`describeValueDestinations`).
 */
import { type ErrorCode, createFinding, secretMask } from '@behalf/contracts';
import { isObject, stableStringify } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type Fields,
  createConfigError,
  hasPlaceholder,
  mergeDefinition,
  normalizeUrl,
  toCanonicalFields,
  toFields,
  withoutNulls,
} from './fields.ts';

/** A group of secrets with the same destination. */
type SecretField = 'headers' | 'apiKey.key' | 'oauth.client_secret';

/** Fields that are returned unmasked. All others are masked, including fields added in the future. */
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
/** Sections with exactly one secret. */
const sectionSecretNames: Readonly<Record<string, string>> = { apiKey: 'key', oauth: 'client_secret' };

/** Replaces every secret with a mask. A client can send the result back unchanged, and the stored secrets remain. */
export function maskSecrets(definition: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(toFields(definition)).map(([key, value]) => [key, maskField(key, value)]),
  );
}

function maskField(key: string, value: unknown): unknown {
  // `null` in an override removes a field and is no secret.
  if (visibleKeys.has(key) || value === null) return value;
  const secretName = sectionSecretNames[key];
  if (secretName === undefined) return maskValue(value);
  const section = toFields(value);
  return typeof section[secretName] === 'string' ? { ...section, [secretName]: secretMask } : section;
}

function maskValue(value: unknown): unknown {
  if (value === null) return null;
  if (!isObject(value)) return secretMask;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskValue(item)]));
}

/** `replace`: omitted fields are removed, except secrets, which clients cannot send back. `merge`: RFC 7396. */
export type ChangeMode = 'replace' | 'merge';

/** The requested definition, with a mask for each stored secret that the request omits. */
export function addMasks(input: Fields, stored: unknown, mode: ChangeMode): Fields {
  const masked = maskSecrets(stored);
  if (mode === 'merge') return withoutNulls(toFields(mergeDefinition(masked, input)));
  const requested: Record<string, unknown> = { ...input };
  if (!Object.hasOwn(input, 'headers') && masked['headers'] !== undefined)
    requested['headers'] = masked['headers'];
  for (const [section, name] of Object.entries(sectionSecretNames)) {
    const value = requested[section];
    const mask = toFields(masked[section])[name];
    if (isObject(value) && !Object.hasOwn(value, name) && mask !== undefined)
      requested[section] = { ...value, [name]: mask };
  }
  return withoutNulls(requested);
}

interface RestoredDefinition {
  readonly definition: Fields;
  /** The groups of which a stored secret was inserted. */
  readonly retainedSecrets: readonly SecretField[];
}

/**
 * Replaces masks in a user's definition with the stored secrets. The caller must call `requireSameBinding` before it
 * uses the result.
 */
export function restoreMaskedSecrets(masked: Fields, stored: unknown): RestoredDefinition {
  // If each user enters a key, the author's key is dropped.
  const { key, ...apiKey } = toFields(masked['apiKey']);
  const input = key === secretMask && apiKey['source'] === 'user' ? { ...masked, apiKey } : masked;
  const storedFields = toFields(stored);
  const headers: Fields = Object.fromEntries(
    Object.entries(toFields(storedFields['headers'])).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return restoreMasks(
    input,
    { ...storedFields, headers },
    {
      getSecretField: ([section, name, ...nested]) => {
        if (nested.length > 0) return undefined;
        if (section === 'headers' && name !== undefined) return 'headers';
        if (section === 'apiKey' && name === 'key') return 'apiKey.key';
        return section === 'oauth' && name === 'client_secret' ? 'oauth.client_secret' : undefined;
      },
      toStoredKey: (name, [section]) => (section === 'headers' ? name.toLowerCase() : name),
    },
  );
}

/** Replaces masks in an override with the stored values. The caller must call `requireSameBinding`. */
export function restoreOverrideSecrets(input: Fields, stored: unknown): RestoredDefinition {
  return restoreMasks(input, stored, {
    getSecretField([key]) {
      if (key === 'apiKey') return 'apiKey.key';
      // `oauth_headers` are sent to the authorization server, like the client secret.
      return key === 'oauth' || key === 'oauth_headers' ? 'oauth.client_secret' : 'headers';
    },
    toStoredKey: (key) => key,
  });
}

interface MaskRules {
  /** The group of the secret at a path; undefined if a mask there is an ordinary value. */
  readonly getSecretField: (path: readonly string[]) => SecretField | undefined;
  readonly toStoredKey: (key: string, path: readonly string[]) => string;
}

function restoreMasks(
  input: Fields,
  stored: unknown,
  { getSecretField, toStoredKey }: MaskRules,
): RestoredDefinition {
  const retained = new Set<SecretField>();
  const restore = (value: unknown, storedValue: unknown, path: readonly string[]): unknown => {
    const field = value === secretMask ? getSecretField(path) : undefined;
    if (field !== undefined) {
      if (storedValue === undefined || storedValue === null)
        throw createConfigError([createFinding(path, 'mask', 'is a mask, but no secret is stored')]);
      retained.add(field);
      return storedValue;
    }
    if (!isObject(value)) return value;
    const storedFields = toFields(storedValue);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        restore(item, storedFields[toStoredKey(key, path)], [...path, key]),
      ]),
    );
  };
  return { definition: toFields(restore(input, stored, [])), retainedSecrets: [...retained] };
}

/** Fields that determine where requests go and who can read them in transit. */
const transportFields = ['type', 'url', 'proxy', 'caFile'];

/** The fields that determine where the secrets of a group are sent, and in which form. */
const bindingFields: Readonly<Record<SecretField, readonly string[]>> = {
  headers: transportFields,
  'apiKey.key': [...transportFields, 'apiKey.source', 'apiKey.authorization_type', 'apiKey.custom_header'],
  'oauth.client_secret': [
    ...transportFields,
    'oauth.authorization_url',
    'oauth.issuer',
    'oauth.grant',
    'oauth.token_url',
    'oauth.client_id',
    'oauth.token_exchange_method',
    'oauth.token_endpoint_auth_methods_supported',
    'oauth.revocation_endpoint',
    'oauth.revocation_endpoint_auth_methods_supported',
  ],
};

/** The binding fields in which two definitions differ. */
export function findChangedBindings(field: SecretField, before: unknown, after: unknown): string[] {
  const [previous, next] = [toCanonicalFields(before), toCanonicalFields(after)];
  return bindingFields[field].filter(
    (path) => stableStringify(readPath(previous, path)) !== stableStringify(readPath(next, path)),
  );
}

function readPath(fields: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => toFields(value)[key], fields);
}

/** Throws if a retained secret would be sent to another destination than before. */
export function requireSameBinding(
  retainedSecrets: readonly SecretField[],
  before: unknown,
  after: unknown,
): void {
  for (const field of retainedSecrets) {
    const changedFields = findChangedBindings(field, before, after);
    if (changedFields.length === 0) continue;
    const code: ErrorCode =
      field === 'oauth.client_secret' ? 'MCP_OAUTH_SECRET_REENTRY_REQUIRED' : 'MCP_SECRET_REENTRY_REQUIRED';
    throw new GatewayError(code, {
      changedFields,
      errors: changedFields.map((path) => ({
        path: `config.${path}`,
        code: 'secret_binding',
        message: `has changed, so ${field} must be entered again`,
      })),
    });
  }
}

/** The groups of secrets in `base` that an override neither replaces nor removes. */
export function findInheritedSecrets(base: unknown, override: unknown): SecretField[] {
  const inherited = new Set<SecretField>();
  const visit = (value: unknown, overriding: unknown, path: readonly string[]): void => {
    if (!isObject(value)) {
      const field = overriding === undefined ? findFileSecretField(path, value) : undefined;
      if (field) inherited.add(field);
      return;
    }
    if (overriding !== undefined && !isObject(overriding)) return;
    for (const [key, item] of Object.entries(value)) {
      visit(item, overriding && Object.hasOwn(overriding, key) ? overriding[key] : undefined, [...path, key]);
    }
  };
  visit(base, override, []);
  return [...inherited];
}

/** A value from an environment variable counts as a secret: only the operator knows whether it is one. */
function findFileSecretField([key, inner]: readonly string[], value: unknown): SecretField | undefined {
  const hasVariable = typeof value === 'string' && value.includes('${');
  switch (key) {
    case 'headers':
    case 'env':
    case 'proxy':
      return 'headers';
    case 'url':
      return hasVariable ? 'headers' : undefined;
    case 'apiKey':
      return inner === 'key' ? 'apiKey.key' : undefined;
    case 'oauth_headers':
      return 'oauth.client_secret';
    case 'oauth':
      // A signature with the private key authenticates the client like a secret (RFC 7523).
      return inner === 'client_secret' || inner === 'private_key_file' || hasVariable
        ? 'oauth.client_secret'
        : undefined;
    default:
      return undefined;
  }
}

/**
 * Describes every place to which a definition sends values that users enter: the whole address (on one host, the path or
 * query can lead to a different owner), proxy, CA file, and each templated header or key. If two definitions have the
 * same description, replacing one with the other sends no value to a new place.
 */
export function describeValueDestinations(definition: unknown): string {
  const { url, proxy = null, caFile = null, headers, apiKey, oauth, oauth_headers } = toFields(definition);
  const { key, ...apiKeyFields } = toFields(apiKey);
  return stableStringify([
    normalizeUrl(url),
    proxy,
    caFile,
    listTemplatedHeaders(headers),
    Object.entries(apiKeyFields).sort(),
    hasPlaceholder(key) ? key : null,
    // A value in any `oauth` field may reach the authorization server, so the whole section counts.
    Object.values(toFields(oauth)).some(hasPlaceholder) ? oauth : null,
    listTemplatedHeaders(oauth_headers),
  ]);
}

function listTemplatedHeaders(headers: unknown): (readonly [name: string, value: unknown])[] {
  return Object.entries(toFields(headers))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([, value]) => hasPlaceholder(value))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
