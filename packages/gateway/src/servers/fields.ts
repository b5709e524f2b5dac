import { checkServer, parseUrl, scopeList } from '@behalf/contracts';

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

/**
 * Where a definition sends the values that its users enter: the whole address, for at one host a path or a query may lead
 * to somebody else, the way there, and every text that a value is put into. Two definitions with the same places can be
 * exchanged without a value going anywhere new.
 */
export function describeValueDestinations(definition: unknown): string {
  const { url, proxy = null, caFile = null, headers, apiKey, oauth } = toFields(definition);
  const { oauth_headers: oauthHeaders } = toFields(definition);
  const { key, ...apiKeyFields } = toFields(apiKey);
  // What is sent to an authorization server may hold a value too; which of its texts go where is not told apart.
  const oauthDestination = Object.values(toFields(oauth)).some(hasPlaceholder) ? oauth : null;
  const destinations = [
    normalizeAddress(url),
    proxy,
    caFile,
    listTemplatedHeaders(headers),
    Object.entries(apiKeyFields).sort(),
  ];
  return stableStringify([
    ...destinations,
    hasPlaceholder(key) ? key : null,
    oauthDestination,
    listTemplatedHeaders(oauthHeaders),
  ]);
}

/** In one spelling. Of a text that is no URL, or not yet, there is no telling, so it stands for itself. */
function normalizeAddress(url: unknown): unknown {
  return typeof url === 'string' && !hasPlaceholder(url) ? (parseUrl(url)?.href ?? url) : url;
}

function listTemplatedHeaders(headers: unknown): (readonly [name: string, value: unknown])[] {
  return Object.entries(toFields(headers))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([, value]) => hasPlaceholder(value))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function hasPlaceholder(text: unknown): boolean {
  return typeof text === 'string' && text.includes('{{');
}

/** Deeper than anything we take in may be. What lies below is written as it stands, so that nothing overflows the stack. */
const MAX_DEPTH = 200;

/** JSON whose text does not depend on the order of keys. What is not there reads unlike `null`. */
export function stableStringify(value: unknown): string {
  return value === undefined ? 'undefined' : stringifyValue(value, 0);
}

function stringifyValue(value: unknown, depth: number): string {
  // As JSON has it in a list.
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringifyValue(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${stringifyValue(item, depth + 1)}`);
  return `{${members.join(',')}}`;
}
