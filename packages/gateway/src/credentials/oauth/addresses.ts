import { isLoopbackHost, parseUrl } from '@behalf/contracts';

const HTTP_SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  // A token for a socket is asked for under the address of its handshake.
  'ws:': 'http:',
  'wss:': 'https:',
};

interface CanonicalUrlOptions {
  /** Keeps the query: where it is published as part of the name. What a definition has there may be a key. */
  readonly includeQuery?: boolean;
}

/**
 * One spelling of a server's address for the store, the interface and every comparison: scheme and host in lower case and
 * ASCII, no default port, no slash at the end. Undefined where the address cannot be one: with a user, a password or a fragment.
 */
export function canonicalizeUrl(
  text: string,
  { includeQuery = false }: CanonicalUrlOptions = {},
): string | undefined {
  const url = text.includes('#') ? undefined : parseUrl(text);
  if (!url) return undefined;
  const scheme = HTTP_SCHEMES[url.protocol];
  if (scheme === undefined || url.username !== '' || url.password !== '') return undefined;
  const host = url.port === defaultPort(scheme) ? url.hostname : url.host;
  return `${scheme}//${host}${url.pathname.replace(/\/+$/, '')}${includeQuery ? url.search : ''}`;
}

/** The platform drops it of the schemes it knows; of what was a socket's address it is dropped here. */
function defaultPort(scheme: string): string {
  return scheme === 'https:' ? '443' : '80';
}

const MAX_URL_LENGTH = 2_048;

/**
 * An address that codes, tokens or secrets may be sent to, or a browser with them: https, or plain http on this machine, and
 * nothing in it that is read as somebody's password. Whether it may be reached is for the door out to say.
 */
export function isSafeUrl(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH || text.includes('#')) return false;
  const url = parseUrl(text);
  if (!url) return false;
  const { protocol, hostname, username, password } = url;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** Of an issuer over https every endpoint is: a downgrade would show the network what is sent there. */
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
 * Whether two hosts are so obviously of one owner that nobody has to be asked: the same, or one under the other. Two names under
 * a common parent are not, because without the list of public suffixes `a.co.uk` and `b.co.uk` look like `mcp.example.com` and
 * `auth.example.com`. Asking once too often costs a click; not asking may cost a token.
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
