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
import { type Route, adminRoute } from '../../http/route.ts';

/** The accounts of the caller's tenant: role, and whether they are disabled. */
export function adminUserRoutes(users: UserAdmin): Route[] {
  const path = '/api/admin/users';
  const userPath = `${path}/:id` as const;
  return [
    adminRoute('get', path, async (req, res, caller) => {
      const page = await users.list(caller, parseBody(req.query, UserSearch));
      const view: AdminUsersView = { users: page.users.map(adminUserView), next: page.next };
      res.json(view);
    }),
    adminRoute('get', userPath, async (req, res, caller) => {
      res.json(adminUserView(await users.view(caller, req.params.id)));
    }),
    adminRoute('patch', userPath, async (req, res, caller) => {
      const change = readBody(req, UserChangeRequest);
      res.json(adminUserView(await users.change(caller, req.params.id, change)));
    }),
  ];
}

/** Lists the public fields explicitly, so that a new field of the record is not exposed by accident. */
function adminUserView(user: UserRecord): AdminUserView {
  const { id, email, name, issuer, role, roleSource, roleConfirmedAt, disabledAt, createdAt, updatedAt } =
    user;
  return {
    ...{ id, email, name, issuer, role, roleSource, roleConfirmedAt },
    ...{ disabled: disabledAt !== null, disabledAt, createdAt, updatedAt },
  };
}

/** The sessions of a user of the caller's tenant. */
export function adminSessionRoutes(users: UserAdmin): Route[] {
  const path = '/api/admin/users/:id/sessions';
  return [
    adminRoute('get', path, async (req, res, caller) => {
      const sessions = await users.sessionsOf(caller, req.params.id);
      res.json({ sessions: sessions.map((session) => sessionView(session, caller)) });
    }),
    adminRoute('delete', path, async (req, res, caller) => {
      res.json({ ended: await users.endSessions(caller, req.params.id) });
    }),
    adminRoute('delete', `${path}/:session`, async (req, res, caller) => {
      const { id, session } = req.params;
      await users.endSession(caller, id, session);
      res.status(204).end();
    }),
  ];
}

/** The id is the hash of the session secret, so it identifies the session but cannot be used to authenticate. */
export function sessionView(
  { hash, via, createdAt, expiresAt }: SessionRecord,
  { authentication }: UserPrincipal,
): SessionView {
  const current = authentication.via === 'session' && authentication.session === hash;
  return { id: hash, via, createdAt, expiresAt, current };
}
