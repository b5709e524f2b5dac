import type { IncomingMessage } from 'node:http';
import { GatewayError, type SessionCache, type UserPrincipal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { RouteAccess } from '../http.ts';
import { createCsrfCheck } from '../middleware/csrf.ts';
import type { Origins } from '../origins.ts';

export interface AdmissionParts {
  sessions: SessionCache;
  origins: () => Origins;
  cookie: () => SessionCookie;
  /** True once the store must not be written any more. */
  refusesWrites: () => boolean;
}

/** What every request passes before its route, whichever way it came in. */
export interface Admission {
  /** Meant for us, not forged by another site, and not a write that would be lost. Throws otherwise. */
  check(req: IncomingMessage): void;
  /** Who is calling. Throws unless they may enter. Without I/O when the answer is known. */
  authenticate(
    req: IncomingMessage,
    access: Exclude<RouteAccess, 'public'>,
  ): UserPrincipal | Promise<UserPrincipal>;
}

export function createAdmission({ sessions, origins, cookie, refusesWrites }: AdmissionParts): Admission {
  const checkCsrf = createCsrfCheck(origins, cookie);

  function admit(caller: UserPrincipal | null, access: Exclude<RouteAccess, 'public'>): UserPrincipal {
    if (!caller) throw new GatewayError('AUTH_REQUIRED');
    if (access === 'admin' && caller.role !== 'ADMIN') throw new GatewayError('FORBIDDEN');
    return caller;
  }

  return {
    check(req) {
      if (!origins().acceptsHost(req.headers.host)) throw new GatewayError('HOST_REFUSED');
      checkCsrf(req);
      if (refusesWrites() && req.method !== 'GET') throw new GatewayError('SHUTTING_DOWN');
    },
    authenticate(req, access) {
      const secret = cookie().read(req);
      if (secret === null) throw new GatewayError('AUTH_REQUIRED');
      const known = sessions.resolve(secret, req.socket);
      return known instanceof Promise ? known.then((caller) => admit(caller, access)) : admit(known, access);
    },
  };
}
