import { isLoopbackHost, parseUrl } from '@behalf/contracts/plain';

/**
 * An address as the gateway gave it, if it leads to the gateway itself: a window that promises a sign-in goes nowhere
 * else. A gateway on this machine has several names, and gives the one it is known by.
 */
export function resolveOwnUrl(text: string | null, origin: string): URL | undefined {
  if (text === null || text === '' || !parseUrl(text, origin)) return undefined;
  const url = new URL(text, origin);
  if (url.origin === origin) return url;
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  return isLocal && isLoopbackHost(new URL(origin).hostname) ? url : undefined;
}
