import {
  type AdminRoleView,
  PermissionsRequest,
  RoleChangeRequest,
  RoleRequest,
  type RoleView,
  permissionType,
} from '@behalf/contracts';
import { GatewayError, type Role, type RoleAdmin, type Roles, isAdmin, parseIfMatch } from '@behalf/gateway';
import type { Request, Response } from 'express';
import { sendVersioned } from '../../http/etag.ts';
import { readBody } from '../../http/request.ts';
import { type Route, adminRoute, signedInRoute } from '../../http/route.ts';

/** The roles of the caller's tenant and their permissions. */
export function adminRoleRoutes(roles: RoleAdmin): Route[] {
  const sendRole = (res: Response, role: Role) => sendVersioned(res, adminRoleView(role), role.version);
  const path = '/api/admin/roles';
  const rolePath = `${path}/:name` as const;
  return [
    adminRoute('get', path, async (_req, res, caller) =>
      res.json({ roles: (await roles.list(caller)).map(adminRoleView) }),
    ),
    adminRoute('post', path, async (req, res, caller) => {
      const { name, description, permissions } = readBody(req, RoleRequest);
      const bits = permissions?.[permissionType] ?? {};
      sendRole(res.status(201), await roles.create(caller, { name, description, permissions: bits }));
    }),
    adminRoute('get', rolePath, async (req, res, caller) =>
      sendRole(res, await roles.view(caller, req.params.name)),
    ),
    adminRoute('patch', rolePath, async (req, res, caller) => {
      const { description, permissions } = readBody(req, RoleChangeRequest);
      const change = { description, permissions: permissions?.[permissionType] };
      const name = req.params.name;
      const expectedVersion = await readExpectedVersion(
        req,
        async () => (await roles.view(caller, name)).version,
      );
      sendRole(res, await roles.change(caller, name, change, expectedVersion));
    }),
    adminRoute('delete', rolePath, async (req, res, caller) => {
      await roles.remove(caller, req.params.name);
      res.status(204).end();
    }),
  ];
}

/** Lists the public fields explicitly, so that a new field of the record is not exposed by accident. */
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

/** The version in `If-Match`; null without the header. If it lists several, the current version must be one of them. */
async function readExpectedVersion(
  req: Pick<Request, 'get'>,
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

/** Roles as LibreChat reads them. Names are not case-sensitive. */
export function roleRoutes({ roles, roleAdmin }: RoleRouteParts): Route[] {
  return [
    signedInRoute('get', '/api/roles/:role', 'mcp', (req, res, caller) => {
      const name = roles.findName(caller.tenant, req.params.role);
      // Other users get the same error for an unknown role, so that they cannot list role names.
      if (name !== caller.role && !isAdmin(caller)) throw new GatewayError('FORBIDDEN');
      const role = roles.list(caller.tenant).find((other) => other.name === name);
      if (!role) throw new GatewayError('ROLE_NOT_FOUND');
      res.json(roleView(role));
    }),
    adminRoute('put', '/api/roles/:role/mcp-servers', async (req, res, caller) => {
      const permissions = readBody(req, PermissionsRequest);
      const name = roles.findName(caller.tenant, req.params.role);
      if (name === null) throw new GatewayError('ROLE_NOT_FOUND');
      res.json(roleView(await roleAdmin.change(caller, name, { permissions }, null)));
    }),
  ];
}
