import type { Fetch } from '@behalf/kernel';

/** Where codes, tokens and secrets are sent: a redirect would carry them on to somebody else. */
export function withoutRedirects(fetch: Fetch): Fetch {
  return (url, init) => fetch(url, { ...init, redirect: 'error' });
}
