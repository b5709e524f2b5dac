import { canonicalFields, fieldsOf, isMapping, type Fields } from './canonical.ts';
import type { SecretField } from './secretFields.ts';
import { stableText } from './stableText.ts';

/** Where a request goes and who can read it on the way. */
const place = ['type', 'url', 'proxy', 'caFile'];

/** What says where a secret is sent, and as what. */
const bindings: Readonly<Record<SecretField, readonly string[]>> = {
  headers: place,
  'apiKey.key': [...place, 'apiKey.source', 'apiKey.authorization_type', 'apiKey.custom_header'],
  'oauth.client_secret': [
    ...place,
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
export function changedBindings(field: SecretField, before: unknown, after: unknown): string[] {
  const [old, next] = [canonicalFields(before), canonicalFields(after)];
  return bindings[field].filter((path) => stableText(at(old, path)) !== stableText(at(next, path)));
}

function at(fields: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => fieldsOf(value)[key], fields);
}

/** The secrets of a definition that are still there when another is laid over it, neither said anew nor taken away. */
export function keptOfBase(base: unknown, override: unknown): SecretField[] {
  const kept = new Set<SecretField>();
  const look = (value: unknown, said: unknown, path: readonly string[]): void => {
    if (!isMapping(value)) {
      const field = said === undefined ? secretAt(path, value) : undefined;
      if (field) kept.add(field);
      return;
    }
    if (said !== undefined && !isMapping(said)) return;
    for (const [key, item] of Object.entries(value)) {
      look(item, said && Object.hasOwn(said, key) ? said[key] : undefined, [...path, key]);
    }
  };
  look(base, override, []);
  return [...kept];
}

/** Also what is filled in from the environment: only the operator knows whether that is a secret. */
function secretAt([key, inner]: readonly string[], value: unknown): SecretField | undefined {
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
