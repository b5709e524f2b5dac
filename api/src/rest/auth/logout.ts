import type { Sessions } from '@behalf/gateway';
import type { SessionCookie } from '../../cookies.ts';
import type { Route } from '../../http.ts';
import { isForm } from '../../middleware/body.ts';

/** Public, because signing out must work for whoever is already signed out. */
export function logoutRoute({
  sessions,
  cookie,
}: {
  sessions: Sessions;
  cookie: () => SessionCookie;
}): Route {
  return {
    method: 'post',
    path: '/api/auth/logout',
    access: 'public',
    async handle(req, res) {
      const secret = cookie().read(req);
      if (secret !== null) await sessions.end(secret);
      cookie().erase(res);
      if (isForm(req)) res.redirect(303, '/');
      else res.status(204).end();
    },
  };
}
