import {
  type AdminUserView,
  type AdminUsersView,
  type SessionView,
  UserChangeRequest,
  UserSearch,
} from '@behalf/contracts';
import type { UserAdmin, UserPrincipal } from '@behalf/gateway';
import type { SessionRecord, UserRecord } from '@behalf/gateway/ports';
import { parseBody, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

/** The accounts of the caller's tenant: who there is, which role they have, whether they may sign in. */
export function adminUserRoutes(users: UserAdmin): Route[] {
  const path = '/api/admin/users';
  const userPath = `${path}/:id`;
  return [
    {
      method: 'get',
      path,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const page = await users.list(caller, parseBody(req.query, UserSearch));
        const view: AdminUsersView = { users: page.users.map(adminUserView), next: page.next };
        res.json(view);
      },
    },
    {
      method: 'get',
      path: userPath,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json(adminUserView(await users.view(caller, id)));
      },
    },
    {
      method: 'patch',
      path: userPath,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json(adminUserView(await users.change(caller, id, readBody(req, UserChangeRequest))));
      },
    },
  ];
}

/** By name, so that a new field of an account stays inside until it is listed here. */
function adminUserView(user: UserRecord): AdminUserView {
  const { id, email, name, issuer, role, roleSource, roleConfirmedAt, disabledAt, createdAt, updatedAt } =
    user;
  return {
    ...{ id, email, name, issuer, role, roleSource, roleConfirmedAt },
    ...{ disabled: disabledAt !== null, disabledAt, createdAt, updatedAt },
  };
}

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
