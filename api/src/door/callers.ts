import type { IncomingMessage } from 'node:http';
import { API_KEY_PREFIX, GatewayError, type CallerCache, type Principal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { RateLimits } from './rateLimits.ts';

export interface CallerParts {
  sessions: CallerCache;
  keys: CallerCache;
  /** Tokens of the identity provider; null when there is none. */
  bearers: CallerCache | null;
  /** Throws when a token is good, but not for this request. */
  checkToken: (caller: Principal, req: IncomingMessage) => void;
  cookie: () => SessionCookie;
  limits: Pick<RateLimits, 'checkAddress' | 'refused'>;
  /** The address of who calls, past the proxies that are ours. */
  addressOf: (req: IncomingMessage) => string;
}

type Refusal = 'AUTH_REQUIRED' | 'AUTH_TOKEN_INVALID';

/** Who is calling, by whatever they present. Without I/O when the answer is known. */
export type Callers = (req: IncomingMessage) => Principal | Promise<Principal>;

/**
 * Whoever presents a token is judged by it alone: a bad one beside a good cookie is refused, or a page that can make a
 * browser send its cookie would get past the check that such a request is our own.
 */
export function createCallers(parts: CallerParts): Callers {
  const { sessions, keys, bearers, checkToken, cookie, limits, addressOf } = parts;

  function byCookie(req: IncomingMessage): Principal | Promise<Principal> {
    const secret = cookie().read(req);
    if (secret === null) throw new GatewayError('AUTH_REQUIRED');
    return known(req, sessions, secret, 'AUTH_REQUIRED');
  }

  function byToken(req: IncomingMessage, authorization: string): Principal | Promise<Principal> {
    const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
    const cache = token?.startsWith(API_KEY_PREFIX) ? keys : bearers;
    if (token === undefined || !cache) return guessed(req, 'AUTH_TOKEN_INVALID');
    const found = known(req, cache, token, 'AUTH_TOKEN_INVALID');
    return found instanceof Promise ? found.then((caller) => checked(caller, req)) : checked(found, req);
  }

  function checked(caller: Principal, req: IncomingMessage): Principal {
    checkToken(caller, req);
    return caller;
  }

  /** Guessing is slowed down by address. Who is known is not made to wait for a neighbour who guesses. */
  function known(
    req: IncomingMessage,
    cache: CallerCache,
    secret: string,
    otherwise: Refusal,
  ): Principal | Promise<Principal> {
    const isKnown = cache.isCached(secret, req.socket);
    if (!isKnown) limits.checkAddress(addressOf(req));
    const found = cache.resolve(secret, req.socket);
    if (!(found instanceof Promise)) return found;
    return found.then(
      (caller) => caller ?? guessed(req, otherwise),
      (error: unknown) => {
        // Asking about a stranger cost as much as about one who guesses, and may have been just that.
        if (!isKnown && error instanceof GatewayError && error.code === 'OPENID_UNAVAILABLE')
          limits.refused(addressOf(req));
        throw error;
      },
    );
  }

  function guessed(req: IncomingMessage, code: Refusal): never {
    limits.refused(addressOf(req));
    throw new GatewayError(code);
  }

  return (req) => {
    const { authorization } = req.headers;
    return authorization === undefined ? byCookie(req) : byToken(req, authorization);
  };
}
