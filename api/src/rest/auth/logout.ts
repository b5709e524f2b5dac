import type { Audit, SignInSessions } from '@behalf/gateway';
import type { SessionCookie } from '../../cookies.ts';
import type { Route } from '../../http/routes.ts';
import { isForm } from '../../middleware/body.ts';
import { signInEvent } from './signInEvents.ts';

/** Public, because signing out must work for whoever is already signed out. */
export function logoutRoute({
  sessions,
  cookie,
  audit,
}: {
  sessions: SignInSessions;
  cookie: () => SessionCookie;
  audit: Audit;
}): Route {
  return {
    method: 'post',
    path: '/api/auth/logout',
    access: 'public',
    async handle(req, res) {
      const secret = cookie().read(req);
      const endedSession = secret === null ? null : await sessions.end(secret);
      // Before it is written down: the session is over, also for a browser that gets an error for an answer.
      cookie().erase(res);
      if (endedSession)
        await audit.record(
          signInEvent('session.end', { id: endedSession.userId, tenant: endedSession.tenant }),
        );
      if (isForm(req)) res.redirect(303, '/');
      else res.status(204).end();
    },
  };
}
