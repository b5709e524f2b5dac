import { isLoopbackHost, parseUrl } from '@behalf/contracts';

const HTTP_SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  // A token for a websocket is requested for the URL of its HTTP handshake.
  'ws:': 'http:',
  'wss:': 'https:',
};

interface CanonicalUrlOptions {
  /** Keeps the query of a published resource identifier. The query in a server definition is dropped: it may contain a key. */
  readonly includeQuery?: boolean;
}

/**
 * The spelling of a server URL for storage, display and comparison: lower-case ASCII scheme and host, no default port, no trailing
 * slash. Undefined for a URL with credentials or a fragment.
 */
export function canonicalizeUrl(
  text: string,
  { includeQuery = false }: CanonicalUrlOptions = {},
): string | undefined {
  const url = text.includes('#') ? undefined : parseUrl(text);
  if (!url) return undefined;
  const scheme = HTTP_SCHEMES[url.protocol];
  if (scheme === undefined || url.username !== '' || url.password !== '') return undefined;
  // URL drops the default port of http and ws itself, but the scheme of a websocket URL changes here.
  const host = url.port === (scheme === 'https:' ? '443' : '80') ? url.hostname : url.host;
  return `${scheme}//${host}${url.pathname.replace(/\/+$/, '')}${includeQuery ? url.search : ''}`;
}

const MAX_URL_LENGTH = 2_048;

/**
 * Whether codes, tokens, secrets or a browser may be sent to this URL: https, or http on loopback, without credentials or fragment. The
 * egress decides separately whether the address is reachable.
 */
export function isSafeUrl(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH || text.includes('#')) return false;
  const url = parseUrl(text);
  if (!url) return false;
  const { protocol, hostname, username, password } = url;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** The endpoints of an https issuer must use https too. */
export function isSafeEndpointOf(issuer: string, text: unknown): text is string {
  return isSafeUrl(text) && (!issuer.startsWith('https:') || text.startsWith('https:'));
}

export function getOrigin(url: string): string {
  return new URL(url).origin;
}

export function getHost(url: string): string {
  return new URL(url).hostname;
}

/**
 * Whether two hosts clearly have one owner: they are equal, or one is a subdomain of the other. Siblings below a common parent do not
 * count: without the public suffix list, `a.co.uk` and `b.co.uk` look like `mcp.example.com` and `auth.example.com`. A false negative
 * costs the user one confirmation; a false positive could cost a token.
 */
export function areRelatedHosts(a: string, b: string): boolean {
  const [first, second] = [normalizeHost(a), normalizeHost(b)];
  if (first === second) return true;
  if (isIpAddress(first) || isIpAddress(second)) return false;
  return isSubdomainOf(first, second) || isSubdomainOf(second, first);
}

function isSubdomainOf(host: string, parent: string): boolean {
  return parent.split('.').length >= 2 && host.endsWith(`.${parent}`);
}

function isIpAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
