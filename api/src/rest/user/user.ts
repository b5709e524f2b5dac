import { mcpPermissions, permissionType, type McpPermission, type OwnUserView } from '@behalf/contracts';
import { isAdmin, type Roles } from '@behalf/gateway';
import { isOperator } from '../../admin/isOperator.ts';
import type { Route } from '../../http/routes.ts';
import { userView } from './userView.ts';

export interface UserRouteParts {
  readonly roles: Pick<Roles, 'permits'>;
  readonly offersOpenId: boolean;
}

/** Who is signed in and what they may do, so that a page need not offer what would be refused. */
export function userRoute({ roles, offersOpenId }: UserRouteParts): Route {
  return {
    method: 'get',
    path: '/api/user',
    access: 'signed-in',
    scope: 'mcp',
    handle(_req, res, caller) {
      const permitted = mcpPermissions.map((permission) => [permission, roles.permits(caller, permission)]);
      const view: OwnUserView = {
        ...userView({ ...caller, id: caller.userId }),
        permissions: { [permissionType]: Object.fromEntries(permitted) as Record<McpPermission, boolean> },
        isAdmin: isAdmin(caller),
        isOperator: isOperator(caller),
        offersOpenId,
      };
      res.json(view);
    },
  };
}
