import { isLoopbackHost, parseUrl } from '@behalf/contracts';

/** Where a client secret and a user's token may be sent: https, or this machine. */
export function isSafeEndpoint(url: string): boolean {
  const parsed = parseUrl(url);
  if (!parsed) return false;
  const { protocol, hostname, username, password } = parsed;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
