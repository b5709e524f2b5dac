import { PermissionsRequest } from '@behalf/contracts';
import { GatewayError, isAdmin, type RoleAdmin, type Roles } from '@behalf/gateway';
import { roleView } from '../admin/roles.ts';
import type { Route } from '../http/routes.ts';
import { readBody } from '../middleware/body.ts';

export interface RoleRouteParts {
  roles: Roles;
  roleAdmin: RoleAdmin;
}

/** Roles as an existing front end asks for them: by a name in any case. */
export function roleRoutes({ roles, roleAdmin }: RoleRouteParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/roles/:role',
      access: 'signed-in',
      scope: 'mcp',
      handle(req, res, caller) {
        const name = roles.findName(caller.tenant, (req.params as { role: string }).role);
        // Which other roles there are is for administrators: an unknown one is refused alike.
        if (name !== caller.role && !isAdmin(caller)) throw new GatewayError('FORBIDDEN');
        const role = roles.list(caller.tenant).find((other) => other.name === name);
        if (!role) throw new GatewayError('ROLE_NOT_FOUND');
        res.json(roleView(role));
      },
    },
    {
      method: 'put',
      path: '/api/roles/:role/mcp-servers',
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const permissions = readBody(req, PermissionsRequest);
        const name = roles.findName(caller.tenant, (req.params as { role: string }).role);
        if (name === null) throw new GatewayError('ROLE_NOT_FOUND');
        res.json(roleView(await roleAdmin.change(caller, name, { permissions }, null)));
      },
    },
  ];
}
