import { ownAddress } from './ownAddress.ts';

/** Where people sign in at our own identity provider. */
const OURS = '/oauth/';

/**
 * Where a sign-in that is missing has to happen: at the server, in a window beside the page, or here, which leaves the
 * page. Undefined: it cannot be begun from a browser.
 */
export function signInPlace(connectUrl: string | null, origin: string): 'server' | 'here' | undefined {
  const path = ownAddress(connectUrl, origin)?.pathname;
  if (path === undefined) return undefined;
  return path.startsWith(OURS) ? 'here' : 'server';
}
