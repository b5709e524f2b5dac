import { isLoopbackHost, parseUrl } from '@behalf/contracts/plain';

/** Paths of the sign-in at Behalf's identity provider. */
const OPENID_PATH_PREFIX = '/oauth/';

/**
 * Returns how to start a required sign-in. `server`: in a pop-up. `here`: at Behalf's identity
 * provider, which leaves the page. Undefined: it cannot start in a browser.
 */
export function signInLocation(connectUrl: string | null, origin: string): 'server' | 'here' | undefined {
  const path = resolveOwnUrl(connectUrl, origin)?.pathname;
  if (path === undefined) return undefined;
  return path.startsWith(OPENID_PATH_PREFIX) ? 'here' : 'server';
}

/**
 * Returns the URL if it points to the gateway, otherwise undefined: a sign-in window must not open
 * any other site. All loopback host names count as one host, because the gateway uses its
 * configured name.
 */
export function resolveOwnUrl(text: string | null, origin: string): URL | undefined {
  if (text === null || text === '' || !parseUrl(text, origin)) return undefined;
  const url = new URL(text, origin);
  if (url.origin === origin) return url;
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  return isLocal && isLoopbackHost(new URL(origin).hostname) ? url : undefined;
}

/**
 * Returns the absolute sign-in URL with the return path. Accepts only a path of this gateway, so that
 * a sign-in button cannot lead to another site. The URL parser of the browser decides. The result is
 * absolute because a normalized path such as `//host` would name another host.
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
