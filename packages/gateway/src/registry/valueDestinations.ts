import { parseUrl } from '@behalf/contracts';
import { toFields } from './canonicalFields.ts';
import { stableStringify } from './stableStringify.ts';

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
