import type { IncomingMessage } from 'node:http';
import {
  API_KEY_PREFIX,
  type CallerCache,
  DEFAULT_TENANT,
  GatewayError,
  type Principal,
  type ResolvedCaller,
  isAdmin,
} from '@behalf/gateway';
import type { GrantTokenCallers } from '@behalf/gateway/authorization-server';
import type { BearerCallers } from '@behalf/gateway/openid';
import type { SessionCookie } from './cookies.ts';
import type { RateLimits } from './limits.ts';
import type { Origins } from './origins.ts';
import type { RouteAccess, RouteScope } from './route.ts';

interface AdmissionParts {
  resolveCaller: CallerResolver;
  limits: Pick<RateLimits, 'consume'>;
  origins: () => Origins;
  cookie: () => SessionCookie;
  /** True once the store must not be written any more. */
  rejectsWrites: () => boolean;
}

/** What a route asks of its callers. */
export interface RouteRequirements {
  readonly access: Exclude<RouteAccess, 'public'>;
  readonly scope: RouteScope;
  /** A cookie counts for nothing here. */
  readonly isTokenOnly?: true;
}

/** What every request passes before its route, whichever way it came in. */
export interface Admission {
  /** Meant for us, not forged by another site, and not a write that would be lost. Throws otherwise. */
  check(req: IncomingMessage): void;
  /** Not sent by a page of another site, whatever it presents: a name can be made to lead to us. Throws otherwise. */
  checkOrigin(req: IncomingMessage): void;
  /** Who is calling. Throws unless they may enter. Without I/O when the answer is known. */
  authenticate(req: IncomingMessage, requirements: RouteRequirements): Principal | Promise<Principal>;
}

/** Neither a key nor a token may make what outlives it, or answer what was asked of a person. */
function checkScope({ authentication }: Principal, scope: RouteScope): void {
  if (scope === 'none') {
    if (authentication.via === 'session') return;
    throw new GatewayError('API_KEY_SCOPE', { detail: 'Sign in with a browser session.' });
  }
  if (authentication.via === 'api_key' && !authentication.scopes.includes(scope)) {
    throw new GatewayError('API_KEY_SCOPE', { detail: `The API key needs the scope "${scope}".` });
  }
}

export function createAdmission(parts: AdmissionParts): Admission {
  const { resolveCaller, limits, origins, cookie, rejectsWrites } = parts;
  const checkCsrf = createCsrfCheck(origins, cookie);

  function authorize(
    caller: Principal,
    { method }: IncomingMessage,
    { access, scope }: RouteRequirements,
  ): Principal {
    limits.consume(caller, method === 'GET' || access === 'caller' ? 'calls' : 'writes');
    if (caller.kind === 'service' && access !== 'caller') throw new GatewayError('FORBIDDEN');
    if (access === 'admin' && !isAdmin(caller)) throw new GatewayError('FORBIDDEN');
    checkScope(caller, scope);
    return caller;
  }

  return {
    check(req) {
      if (!origins().isAllowedHost(req.headers.host)) throw new GatewayError('HOST_REFUSED');
      checkCsrf(req);
      if (rejectsWrites() && req.method !== 'GET') throw new GatewayError('SHUTTING_DOWN');
    },
    checkOrigin({ headers: { origin } }) {
      if (origin !== undefined && !origins().isOwnOrigin(origin)) throw new GatewayError('CSRF_REFUSED');
    },
    authenticate(req, requirements) {
      if (requirements.isTokenOnly && req.headers.authorization === undefined)
        throw new GatewayError('AUTH_REQUIRED');
      const caller = resolveCaller(req);
      return caller instanceof Promise
        ? caller.then((resolved) => authorize(resolved, req, requirements))
        : authorize(caller, req, requirements);
    },
  };
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A write is refused unless it can only have come from our own page or from a program. Browsers send `Origin` with
 * every write, and cannot send our header across origins without a preflight that we never answer.
 */
function createCsrfCheck(
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

interface CallerResolverParts {
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
type CallerResolver = (req: IncomingMessage) => Principal | Promise<Principal>;

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

interface OwnTokens {
  readonly bearers: GrantTokenCallers;
  readonly keys: { readonly keySource: { generation(): number } };
}

interface OpenIdTokens {
  readonly bearers: Pick<BearerCallers, 'resolve'>;
  readonly generation: () => number;
}

interface BearerResolver {
  readonly read: (token: string) => Promise<ResolvedCaller | null>;
  /** Increases when the signing keys of an issuer change. Neither summand ever decreases. */
  readonly generation: () => number;
}

/** Resolves tokens of our own authorization server and of the identity provider, each by the rules of its issuer. */
export function createBearerResolver(
  own: OwnTokens | null,
  openId: OpenIdTokens | null,
): BearerResolver | null {
  if (!own)
    return openId && { read: (token) => openId.bearers.resolve(token), generation: openId.generation };
  const { bearers, keys } = own;
  return {
    async read(token) {
      if (bearers.isOwnToken(token)) return bearers.resolve(token);
      return openId ? openId.bearers.resolve(token) : null;
    },
    generation: () => keys.keySource.generation() + (openId?.generation() ?? 0),
  };
}

/**
 * What concerns the gateway as a whole is not for the administrator of one customer's tenant: they could reload what
 * all others use, and see how much others do. Tokens cannot name the operator's own tenant.
 */
export function requireOperator({ tenant }: Pick<Principal, 'tenant'>): void {
  if (tenant === DEFAULT_TENANT) return;
  throw new GatewayError('FORBIDDEN', { detail: 'Only administrators of the whole gateway can do this.' });
}

/** An administrator of the whole gateway: the same as `requireOperator`, for who is answered either way. */
export function isOperator(caller: Principal): boolean {
  return isAdmin(caller) && caller.tenant === DEFAULT_TENANT;
}
