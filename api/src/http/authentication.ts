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
  /** True after the store went into maintenance, when writes would be lost. */
  rejectsWrites: () => boolean;
}

/** The requirements of a route for its callers. */
export interface RouteRequirements {
  readonly access: Exclude<RouteAccess, 'public'>;
  readonly scope: RouteScope;
  /** The session cookie is ignored. */
  readonly isTokenOnly?: true;
}

/** The checks before every route, for fast routes and Express routes alike. */
export interface Admission {
  /** Checks Host, CSRF and maintenance. Throws if the request is refused. */
  check(req: IncomingMessage): void;
  /** Refuses every foreign `Origin`, also with a token. Protects against DNS rebinding. Throws if the request is refused. */
  checkOrigin(req: IncomingMessage): void;
  /** Authenticates and authorizes the caller. Throws if the request is refused. Does no I/O if the caller is cached. */
  authenticate(req: IncomingMessage, requirements: RouteRequirements): Principal | Promise<Principal>;
}

/** Scope `none` requires a browser session: keys and tokens must not create credentials that outlive them, or give consent. */
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
 * CSRF protection. A write is accepted only if it comes from a page of the gateway or from a program. Browsers send
 * `Origin` with every write. They cannot send `X-Behalf-CSRF` across origins without a preflight, which is never granted.
 */
function createCsrfCheck(
  origins: () => Origins,
  cookie: () => SessionCookie,
): (req: IncomingMessage) => void {
  return (req) => {
    if (SAFE_METHODS.has(req.method ?? '') || req.headers['x-behalf-csrf'] === '1') return;
    // A page cannot send a Bearer token either, and with a token the cookie is ignored. Other schemes do not count: browsers
    // attach Basic and Negotiate credentials automatically, like a cookie.
    if (/^Bearer /i.test(req.headers.authorization ?? '')) return;
    const { origin } = req.headers;
    if (origin !== undefined && origins().isOwnOrigin(origin)) return;
    // Without a cookie there is no session to abuse. A foreign page could still sign its victim in to another account (login
    // CSRF), so an `Origin` header is refused.
    if (origin === undefined && cookie().read(req) === null) return;
    throw new GatewayError('CSRF_REFUSED');
  };
}

interface CallerResolverParts {
  sessions: CallerCache;
  keys: CallerCache;
  /** Bearer tokens; null without an identity provider and an authorization server. */
  bearers: CallerCache | null;
  /** Throws if a valid token must not be used for this request. */
  checkToken: (caller: Principal, req: IncomingMessage) => void;
  cookie: () => SessionCookie;
  limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  /** The IP address of the client behind trusted proxies. */
  clientAddressOf: (req: IncomingMessage) => string;
}

type Refusal = 'AUTH_REQUIRED' | 'AUTH_TOKEN_INVALID';

/** Authenticates by API key, bearer token or session cookie. Does no I/O if the caller is cached. */
type CallerResolver = (req: IncomingMessage) => Principal | Promise<Principal>;

/**
 * If an `Authorization` header is present, the cookie is ignored. A bad token beside a valid cookie is refused: otherwise a
 * page could skip the CSRF check by adding a token to a request that the browser sends with the cookie.
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

  /**
   * Limits guessing per network address. Cached credentials are exempt, so that guesses from the same network do not
   * affect authenticated callers.
   */
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
        // An unknown token during an outage of the provider may be a guess as well, and costs as much.
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
  /** Increases when the signing keys of an issuer change. Never decreases. */
  readonly generation: () => number;
}

/** Resolves tokens of the gateway's authorization server and of the identity provider, each by the rules of its issuer. */
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
 * Restricts a route to administrators of the default tenant (operators). Administrators of other tenants must not reload the
 * shared configuration or see the load of others. Login rejects tokens that name the default tenant.
 */
export function requireOperator({ tenant }: Pick<Principal, 'tenant'>): void {
  if (tenant === DEFAULT_TENANT) return;
  throw new GatewayError('FORBIDDEN', {
    detail: 'Only administrators of the default tenant (operators) can do this.',
  });
}

/** Whether the caller is an operator. For routes that other callers use as well. */
export function isOperator(caller: Principal): boolean {
  return isAdmin(caller) && caller.tenant === DEFAULT_TENANT;
}
