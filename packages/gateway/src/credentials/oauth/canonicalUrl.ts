import { parseUrl } from '@behalf/contracts';
const HTTP_SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  // A token for a socket is asked for under the address of its handshake.
  'ws:': 'http:',
  'wss:': 'https:',
};

export interface CanonicalUrlOptions {
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
