import { secretMask } from '@behalf/contracts';
import { toFields, isMapping, type Fields } from './canonicalFields.ts';

/** What a stored definition may hold that nobody is ever shown: each with where it stands. */
export const secretFields = ['headers', 'apiKey.key', 'oauth.client_secret'] as const;
export type SecretField = (typeof secretFields)[number];

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
