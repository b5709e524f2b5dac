import type { IncomingMessage } from 'node:http';
import { API_KEY_PREFIX, GatewayError, type CallerCache, type Principal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { RateLimits } from './rateLimits.ts';

export interface CallerResolverParts {
  sessions: CallerCache;
  keys: CallerCache;
  /** Tokens of the identity provider; null when there is none. */
  bearers: CallerCache | null;
  /** Throws when a token is good, but not for this request. */
  checkToken: (caller: Principal, req: IncomingMessage) => void;
  cookie: () => SessionCookie;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  /** The address of who calls, past the proxies that are ours. */
  clientAddressOf: (req: IncomingMessage) => string;
}

type Refusal = 'AUTH_REQUIRED' | 'AUTH_TOKEN_INVALID';

/** Who is calling, by whatever they present. Without I/O when the answer is known. */
export type CallerResolver = (req: IncomingMessage) => Principal | Promise<Principal>;

/**
 * Whoever presents a token is judged by it alone: a bad one beside a good cookie is refused, or a page that can make a
 * browser send its cookie would get past the check that such a request is our own.
 */
export function createCallerResolver(parts: CallerResolverParts): CallerResolver {
  const { sessions, keys, bearers, checkToken, cookie, limits, clientAddressOf } = parts;

  function authenticateCookie(req: IncomingMessage): Principal | Promise<Principal> {
    const secret = cookie().read(req);
    if (secret === null) throw new GatewayError('AUTH_REQUIRED');
    return authenticate(req, sessions, secret, 'AUTH_REQUIRED');
  }

  function authenticateToken(req: IncomingMessage, authorization: string): Principal | Promise<Principal> {
    const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
    const cache = token?.startsWith(API_KEY_PREFIX) ? keys : bearers;
    if (token === undefined || !cache) return reject(req, 'AUTH_TOKEN_INVALID');
    const resolved = authenticate(req, cache, token, 'AUTH_TOKEN_INVALID');
    return resolved instanceof Promise
      ? resolved.then((caller) => checkCaller(caller, req))
      : checkCaller(resolved, req);
  }

  function checkCaller(caller: Principal, req: IncomingMessage): Principal {
    checkToken(caller, req);
    return caller;
  }

  /** Guessing is slowed down by address. Who is known is not made to wait for a neighbour who guesses. */
  function authenticate(
    req: IncomingMessage,
    cache: CallerCache,
    secret: string,
    refusal: Refusal,
  ): Principal | Promise<Principal> {
    const isKnown = cache.isCached(secret, req.socket);
    if (!isKnown) limits.checkAddress(clientAddressOf(req));
    const resolved = cache.resolve(secret, req.socket);
    if (!(resolved instanceof Promise)) return resolved;
    return resolved.then(
      (caller) => caller ?? reject(req, refusal),
      (error: unknown) => {
        // Asking about a stranger cost as much as about one who guesses, and may have been just that.
        if (!isKnown && error instanceof GatewayError && error.code === 'OPENID_UNAVAILABLE')
          limits.recordRefusal(clientAddressOf(req));
        throw error;
      },
    );
  }

  function reject(req: IncomingMessage, code: Refusal): never {
    limits.recordRefusal(clientAddressOf(req));
    throw new GatewayError(code);
  }

  return (req) => {
    const { authorization } = req.headers;
    return authorization === undefined ? authenticateCookie(req) : authenticateToken(req, authorization);
  };
}
