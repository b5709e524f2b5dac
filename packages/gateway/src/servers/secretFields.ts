import { secretMask } from '@behalf/contracts';
import { type Fields, isMapping, stableStringify, toCanonicalFields, toFields } from './fields.ts';

/** The secrets of a stored definition, by path. The gateway never returns them. */
export type SecretField = 'headers' | 'apiKey.key' | 'oauth.client_secret';

/** The definition with a mask in the place of every secret. */
export function maskSecrets(definition: unknown): Fields {
  const { headers, apiKey, oauth, ...rest } = toFields(definition);
  return {
    ...rest,
    ...(headers !== undefined && { headers: maskValues(headers) }),
    ...(apiKey !== undefined && { apiKey: maskField(apiKey, 'key') }),
    ...(oauth !== undefined && { oauth: maskField(oauth, 'client_secret') }),
  };
}

function maskValues(value: unknown): unknown {
  if (!isMapping(value)) return secretMask;
  return Object.fromEntries(Object.keys(value).map((name) => [name, secretMask]));
}

function maskField(value: unknown, name: string): unknown {
  if (!isMapping(value)) return secretMask;
  return Object.hasOwn(value, name) ? { ...value, [name]: secretMask } : value;
}

/** Where a request goes and who can read it on the way. */
const transportFields = ['type', 'url', 'proxy', 'caFile'];

/** What says where a secret is sent, and as what. */
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

/** In which of them two definitions differ. */
export function findChangedBindings(field: SecretField, before: unknown, after: unknown): string[] {
  const [previous, next] = [toCanonicalFields(before), toCanonicalFields(after)];
  return bindingFields[field].filter(
    (path) => stableStringify(readPath(previous, path)) !== stableStringify(readPath(next, path)),
  );
}

function readPath(fields: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => toFields(value)[key], fields);
}

/** The secrets of a definition that are still there when another is laid over it, neither said anew nor taken away. */
export function findInheritedSecrets(base: unknown, override: unknown): SecretField[] {
  const inherited = new Set<SecretField>();
  const visit = (value: unknown, overriding: unknown, path: readonly string[]): void => {
    if (!isMapping(value)) {
      const field = overriding === undefined ? findSecretField(path, value) : undefined;
      if (field) inherited.add(field);
      return;
    }
    if (overriding !== undefined && !isMapping(overriding)) return;
    for (const [key, item] of Object.entries(value)) {
      visit(item, overriding && Object.hasOwn(overriding, key) ? overriding[key] : undefined, [...path, key]);
    }
  };
  visit(base, override, []);
  return [...inherited];
}

/** Also what is filled in from the environment: only the operator knows whether that is a secret. */
function findSecretField([key, inner]: readonly string[], value: unknown): SecretField | undefined {
  const isFilledIn = typeof value === 'string' && value.includes('${');
  switch (key) {
    case 'headers':
    case 'env':
    case 'proxy':
      return 'headers';
    case 'url':
      return isFilledIn ? 'headers' : undefined;
    case 'apiKey':
      return inner === 'key' ? 'apiKey.key' : undefined;
    case 'oauth_headers':
      return 'oauth.client_secret';
    case 'oauth':
      // What is signed with the key proves to be us as well as a secret does.
      return inner === 'client_secret' || inner === 'private_key_file' || isFilledIn
        ? 'oauth.client_secret'
        : undefined;
    default:
      return undefined;
  }
}
