import type { SessionView } from '@behalf/contracts';
import type { UserAdmin, UserPrincipal } from '@behalf/gateway';
import type { SessionRecord } from '@behalf/gateway/ports';
import type { Route } from '../http/routes.ts';

/** The sign-ins of a user of the caller's tenant. */
export function adminSessionRoutes(users: UserAdmin): Route[] {
  const path = '/api/admin/users/:id/sessions';
  return [
    {
      method: 'get',
      path,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const sessions = await users.sessionsOf(caller, id);
        res.json({ sessions: sessions.map((session) => sessionView(session, caller)) });
      },
    },
    {
      method: 'delete',
      path,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json({ ended: await users.endSessions(caller, id) });
      },
    },
    {
      method: 'delete',
      path: `${path}/:session`,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { id, session } = req.params as { id: string; session: string };
        await users.endSession(caller, id, session);
        res.status(204).end();
      },
    },
  ];
}

/** By name. The id is the hash of what the cookie holds: it names the session and opens nothing. */
export function sessionView(
  { hash, via, createdAt, expiresAt }: SessionRecord,
  { authentication }: UserPrincipal,
): SessionView {
  const current = authentication.via === 'session' && authentication.session === hash;
  return { id: hash, via, createdAt, expiresAt, current };
}
