import { UserChangeRequest, UserSearch, type AdminUsersView, type AdminUserView } from '@behalf/contracts';
import type { UserAdmin } from '@behalf/gateway';
import type { UserRecord } from '@behalf/gateway/ports';
import type { Route } from '../http/routes.ts';
import { parseBody, readBody } from '../middleware/body.ts';

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
