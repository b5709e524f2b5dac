import { checkServer, scopeList, parseUrl } from '@behalf/contracts';
import { stableStringify } from './stableStringify.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * What may change of a server that others trust with their tokens: texts and a picture. Everything else, also what
 * nobody has thought of yet, decides where calls lead and with which credential.
 */
export const nonSecurityKeys: ReadonlySet<string> = new Set(['title', 'description', 'iconPath']);

/** Lists of `oauth` whose order has no meaning. */
const unorderedLists: ReadonlySet<string> = new Set([
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'response_types_supported',
  'code_challenge_methods_supported',
  'revocation_endpoint_auth_methods_supported',
]);
const urlKeys: ReadonlySet<string> = new Set([
  'url',
  'authorization_url',
  'token_url',
  'revocation_endpoint',
  'redirect_uri',
]);

/**
 * A definition in the one form that all ways to write it share: defaults written out, sets in order, header names in
 * lower case, URLs in one spelling. For comparing, never for storing.
 */
export function toCanonicalFields(definition: unknown): Fields {
  const fields = toFields(definition);
  // A definition that is not valid stands for itself: it equals no valid one.
  const { server = {} } = checkServer(fields, []);
  return Object.fromEntries(
    Object.entries({ ...fields, ...server }).map(([key, value]) => [key, canonicalize(key, value)]),
  );
}

function canonicalize(key: string, value: unknown): unknown {
  if (urlKeys.has(key)) return canonicalizeUrl(value);
  if (key === 'headers') return lowerCaseKeys(toFields(value));
  if (key === 'custom_header') return typeof value === 'string' ? value.toLowerCase() : value;
  if (key === 'scopes') return typeof value === 'string' ? scopeList(value) : value;
  if (unorderedLists.has(key) && Array.isArray(value)) return [...new Set(value.map(stableStringify))].sort();
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([nestedKey, item]) => [nestedKey, canonicalize(nestedKey, item)]),
  );
}

/** A URL with a placeholder in it stands for itself: spelt out, it could equal one that has none. */
function canonicalizeUrl(value: unknown): unknown {
  if (typeof value !== 'string' || value.includes('{{')) return value;
  return parseUrl(value)?.href ?? value;
}

function lowerCaseKeys(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The names of the fields in which two definitions differ, however they are written. */
export function findChangedFields(before: unknown, after: unknown): string[] {
  const [a, b] = [toCanonicalFields(before), toCanonicalFields(after)];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].filter((key) => stableStringify(a[key]) !== stableStringify(b[key])).sort();
}

/** Those of them that are not free. */
export function findSecurityChanges(before: unknown, after: unknown): string[] {
  return findChangedFields(before, after).filter((key) => !nonSecurityKeys.has(key));
}

export function toFields(value: unknown): Fields {
  return isMapping(value) ? value : {};
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
