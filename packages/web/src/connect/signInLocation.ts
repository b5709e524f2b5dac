import { resolveOwnUrl } from './resolveOwnUrl.ts';

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
