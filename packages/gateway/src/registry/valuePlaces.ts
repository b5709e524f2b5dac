import { parseUrl } from '@behalf/contracts';
import { fieldsOf } from './canonical.ts';
import { stableText } from './stableText.ts';

/**
 * Where a definition sends the values that its users enter: the whole address, for at one host a path or a query may lead
 * to somebody else, the way there, and every text that a value is put into. Two definitions with the same places can be
 * exchanged without a value going anywhere new.
 */
export function placesOf(definition: unknown): string {
  const { url, proxy = null, caFile = null, headers, apiKey, oauth } = fieldsOf(definition);
  const { oauth_headers: oauthHeaders } = fieldsOf(definition);
  const { key, ...place } = fieldsOf(apiKey);
  // What is sent to an authorization server may hold a value too; which of its texts go where is not told apart.
  const atIssuer = Object.values(fieldsOf(oauth)).some(holdsValue) ? oauth : null;
  const places = [addressOf(url), proxy, caFile, filled(headers), Object.entries(place).sort()];
  return stableText([...places, holdsValue(key) ? key : null, atIssuer, filled(oauthHeaders)]);
}

/** In one spelling. Of a text that is no URL, or not yet, there is no telling, so it stands for itself. */
function addressOf(url: unknown): unknown {
  return typeof url === 'string' && !holdsValue(url) ? (parseUrl(url)?.href ?? url) : url;
}

function filled(headers: unknown): (readonly [name: string, value: unknown])[] {
  return Object.entries(fieldsOf(headers))
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([, value]) => holdsValue(value))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function holdsValue(text: unknown): boolean {
  return typeof text === 'string' && text.includes('{{');
}
