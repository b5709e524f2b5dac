import type { IncomingMessage } from 'node:http';
import { GatewayError, isAdmin, type Principal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { RouteAccess, RouteScope } from './routes.ts';
import { createCsrfCheck } from '../middleware/csrf.ts';
import type { Origins } from '../origins.ts';
import type { CallerResolver } from './callerResolver.ts';
import type { RateLimits } from './rateLimits.ts';

export interface AdmissionParts {
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
