import { isLoopbackHost } from '@behalf/contracts';

/** Where a client secret and a user's token may be sent: https, or this machine. */
export function isSafeEndpoint(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
