import { isLoopbackHost, parseUrl } from '@behalf/contracts/plain';

/** Where people sign in at our own identity provider. */
const OPENID_PATH_PREFIX = '/oauth/';

/**
 * Where a sign-in that is missing has to happen: at the server, in a window beside the page, or here, which leaves the
 * page. Undefined: it cannot be begun from a browser.
 */
export function signInLocation(connectUrl: string | null, origin: string): 'server' | 'here' | undefined {
  const path = resolveOwnUrl(connectUrl, origin)?.pathname;
  if (path === undefined) return undefined;
  return path.startsWith(OPENID_PATH_PREFIX) ? 'here' : 'server';
}

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

/**
 * Where the sign-in begins, with the way back. Only a path of this gateway: an address of another site would be led to
 * with a button that promises a sign-in. Judged as a browser reads it, and given whole: a path may look like a host.
 */
export function buildSignInUrl(
  connectUrl: string | null,
  returnTo: string,
  origin: string,
): string | undefined {
  if (connectUrl === null || !connectUrl.startsWith('/') || !parseUrl(connectUrl, origin)) return undefined;
  const url = new URL(connectUrl, origin);
  if (url.origin !== origin) return undefined;
  url.searchParams.set('returnTo', returnTo);
  return url.href;
}
