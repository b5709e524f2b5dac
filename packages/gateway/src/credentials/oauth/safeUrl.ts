import { isLoopbackHost, parseUrl } from '@behalf/contracts';

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
