import { parseUrl } from '@behalf/contracts/plain';

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
