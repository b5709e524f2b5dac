import {
  type AdminRoleView,
  PermissionsRequest,
  RoleChangeRequest,
  RoleRequest,
  type RoleView,
  permissionType,
} from '@behalf/contracts';
import {
  GatewayError,
  type Role,
  type RoleAdmin,
  type Roles,
  isAdmin,
  parseIfMatch,
  toEtag,
} from '@behalf/gateway';
import type { Request, Response } from 'express';
import { readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

/** What the roles of the caller's tenant allow. */
export function adminRoleRoutes(roles: RoleAdmin): Route[] {
  const path = '/api/admin/roles';
  const rolePath = `${path}/:name`;
  const roleNameOf = (req: Request) => (req.params as { name: string }).name;
  return [
    {
      method: 'get',
      path,
      access: 'admin',
      scope: 'admin',
      async handle(_req, res, caller) {
        res.json({ roles: (await roles.list(caller)).map(adminRoleView) });
      },
    },
    {
      method: 'post',
      path,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { name, description, permissions } = readBody(req, RoleRequest);
        const bits = permissions?.[permissionType] ?? {};
        sendRole(res.status(201), await roles.create(caller, { name, description, permissions: bits }));
      },
    },
    {
      method: 'get',
      path: rolePath,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        sendRole(res, await roles.view(caller, roleNameOf(req)));
      },
    },
    {
      method: 'patch',
      path: rolePath,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        const { description, permissions } = readBody(req, RoleChangeRequest);
        const change = { description, permissions: permissions?.[permissionType] };
        const name = roleNameOf(req);
        const expectedVersion = await readExpectedVersion(
          req,
          async () => (await roles.view(caller, name)).version,
        );
        sendRole(res, await roles.change(caller, name, change, expectedVersion));
      },
    },
    {
      method: 'delete',
      path: rolePath,
      access: 'admin',
      scope: 'admin',
      async handle(req, res, caller) {
        await roles.remove(caller, roleNameOf(req));
        res.status(204).end();
      },
    },
  ];
}

function sendRole(res: Response, role: Role): void {
  res.set('ETag', toEtag(role.version)).json(adminRoleView(role));
}

/** By name, so that a new field stays inside until it is listed here. */
function roleView({ name, permissions }: Role): RoleView {
  return { name, permissions: { [permissionType]: { ...permissions } } };
}

function adminRoleView(role: Role): AdminRoleView {
  const { description, isBuiltIn, managed, version, updatedAt } = role;
  return {
    ...roleView(role),
    description,
    builtIn: isBuiltIn,
    managed: [...managed],
    version,
    updatedAt,
  };
}

/** The version the caller decided on; null when they did not say. Of several it can only be the one that is there. */
async function readExpectedVersion(
  req: Request,
  readCurrentVersion: () => Promise<number>,
): Promise<number | null> {
  const versions = parseIfMatch(req.get('If-Match'));
  if (versions === null) return null;
  const expectedVersion = versions.length > 1 ? await readCurrentVersion() : versions[0];
  if (expectedVersion === undefined || !versions.includes(expectedVersion))
    throw new GatewayError('VERSION_CONFLICT');
  return expectedVersion;
}

interface RoleRouteParts {
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
