import type { IncomingMessage } from 'node:http';
import { GatewayError, isAdmin, type Principal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { RouteAccess, RouteScope } from '../http.ts';
import { createCsrfCheck } from '../middleware/csrf.ts';
import type { Origins } from '../origins.ts';
import type { Callers } from './callers.ts';
import type { RateLimits } from './rateLimits.ts';

export interface AdmissionParts {
  callers: Callers;
  limits: Pick<RateLimits, 'take'>;
  origins: () => Origins;
  cookie: () => SessionCookie;
  /** True once the store must not be written any more. */
  refusesWrites: () => boolean;
}

/** What a route asks of its callers. */
export interface Asked {
  readonly access: Exclude<RouteAccess, 'public'>;
  readonly scope: RouteScope;
  /** A cookie counts for nothing here. */
  readonly programs?: true;
}

/** What every request passes before its route, whichever way it came in. */
export interface Admission {
  /** Meant for us, not forged by another site, and not a write that would be lost. Throws otherwise. */
  check(req: IncomingMessage): void;
  /** Not sent by a page of another site, whatever it presents: a name can be made to lead to us. Throws otherwise. */
  checkProgram(req: IncomingMessage): void;
  /** Who is calling. Throws unless they may enter. Without I/O when the answer is known. */
  authenticate(req: IncomingMessage, asked: Asked): Principal | Promise<Principal>;
}

/** Neither a key nor a token may make what outlives it, or answer what was asked of a person. */
function checkScope({ authentication: by }: Principal, scope: RouteScope): void {
  if (scope === 'none') {
    if (by.via === 'session') return;
    throw new GatewayError('API_KEY_SCOPE', { detail: 'Sign in with a browser session.' });
  }
  if (by.via === 'api_key' && !by.scopes.includes(scope)) {
    throw new GatewayError('API_KEY_SCOPE', { detail: `The API key needs the scope "${scope}".` });
  }
}

export function createAdmission(parts: AdmissionParts): Admission {
  const { callers, limits, origins, cookie, refusesWrites } = parts;
  const checkCsrf = createCsrfCheck(origins, cookie);

  function admit(caller: Principal, { method }: IncomingMessage, { access, scope }: Asked): Principal {
    limits.take(caller, method === 'GET' || access === 'caller' ? 'calls' : 'writes');
    if (caller.kind === 'service' && access !== 'caller') throw new GatewayError('FORBIDDEN');
    if (access === 'admin' && !isAdmin(caller)) throw new GatewayError('FORBIDDEN');
    checkScope(caller, scope);
    return caller;
  }

  return {
    check(req) {
      if (!origins().acceptsHost(req.headers.host)) throw new GatewayError('HOST_REFUSED');
      checkCsrf(req);
      if (refusesWrites() && req.method !== 'GET') throw new GatewayError('SHUTTING_DOWN');
    },
    checkProgram({ headers: { origin } }) {
      if (origin !== undefined && !origins().isOwn(origin)) throw new GatewayError('CSRF_REFUSED');
    },
    authenticate(req, asked) {
      if (asked.programs && req.headers.authorization === undefined) throw new GatewayError('AUTH_REQUIRED');
      const caller = callers(req);
      return caller instanceof Promise
        ? caller.then((known) => admit(known, req, asked))
        : admit(caller, req, asked);
    },
  };
}
