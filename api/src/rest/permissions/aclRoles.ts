import { aclRoles, type AclRole, type AclRoleView } from '@behalf/contracts';
import type { Route } from '../../http/routes.ts';

const texts: Record<AclRole, { name: string; description: string }> = {
  mcpServer_viewer: { name: 'Viewer', description: 'May see and use the server.' },
  mcpServer_editor: { name: 'Editor', description: 'May change it as well.' },
  mcpServer_owner: { name: 'Owner', description: 'May delete and share it as well.' },
};

const views: AclRoleView[] = (Object.keys(aclRoles) as AclRole[]).map((accessRoleId) => ({
  accessRoleId,
  ...texts[accessRoleId],
  permBits: aclRoles[accessRoleId],
}));

/** The sets of bits that a server can be shared with. The same for everybody. */
export const aclRolesRoute: Route = {
  method: 'get',
  path: '/api/permissions/mcpServer/roles',
  access: 'signed-in',
  scope: 'servers',
  handle(_req, res) {
    res.json(views);
  },
};
