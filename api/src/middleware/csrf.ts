import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { Origins } from '../origins.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A write is refused unless it can only have come from our own page or from a program. Browsers send `Origin` with
 * every write, and cannot send our header across origins without a preflight that we never answer.
 */
export function createCsrfCheck(
  origins: () => Origins,
  cookie: () => SessionCookie,
): (req: IncomingMessage) => void {
  return (req) => {
    if (SAFE_METHODS.has(req.method ?? '') || req.headers['x-behalf-csrf'] === '1') return;
    // Nor can they send a token, and who presents one is judged by it and never by a cookie. What else stands in this
    // header a browser may have put there by itself: Basic and Negotiate ride along like a cookie.
    if (/^Bearer /i.test(req.headers.authorization ?? '')) return;
    const { origin } = req.headers;
    if (origin !== undefined && origins().isOwnOrigin(origin)) return;
    // Without a cookie there is nothing to ride on, but a foreign page could still sign its victim in as somebody else.
    if (origin === undefined && cookie().read(req) === null) return;
    throw new GatewayError('CSRF_REFUSED');
  };
}
