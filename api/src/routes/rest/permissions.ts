import {
  type AclRole,
  type AclRoleView,
  PrincipalSearch,
  type PrincipalSearchView,
  ShareRequest,
  type SharingView,
  aclRoles,
} from '@behalf/contracts';
import {
  type ManageParts,
  type SearchParts,
  type ShareParts,
  type UserPrincipal,
  getManagedServer,
  getServerSharing,
  listManageBits,
  searchPrincipals,
  shareServer,
} from '@behalf/gateway';
import { parseBody, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

/** Words come before `:id`: the first path that fits is taken. */
export function permissionRoutes(parts: ShareParts & SearchParts): Route[] {
  return [
    searchPrincipalsRoute(parts),
    aclRolesRoute,
    ...effectiveRoutes(parts),
    ...sharingRoutes({
      type: 'mcpServer',
      view: (caller, id) => getServerSharing(parts, caller, id),
      share: (caller, id, request) => shareServer(parts, caller, id, request),
    }),
  ];
}

/** Whom a server can be shared with, for the dialog that does so. */
function searchPrincipalsRoute(parts: SearchParts): Route {
  return {
    method: 'get',
    path: '/api/permissions/search-principals',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const search = parseBody(req.query, PrincipalSearch);
      const results = await searchPrincipals(parts, caller, search);
      const { q: query, limit, types } = search;
      const view: PrincipalSearchView = {
        ...{ query, limit, ...(types && { types }), results, count: results.length },
        sources: { local: results.length, entra: 0 },
      };
      res.json(view);
    },
  };
}

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
const aclRolesRoute: Route = {
  method: 'get',
  path: '/api/permissions/mcpServer/roles',
  access: 'signed-in',
  scope: 'servers',
  handle(_req, res) {
    res.json(views);
  },
};

/** What the caller may do with servers, as bits: VIEW 1, EDIT 2, DELETE 4, SHARE 8. */
function effectiveRoutes(parts: ManageParts): Route[] {
  return [
    {
      method: 'get',
      path: '/api/permissions/mcpServer/effective/all',
      access: 'signed-in',
      scope: 'mcp',
      handle(_req, res, caller) {
        res.json(listManageBits(parts, caller));
      },
    },
    {
      method: 'get',
      path: '/api/permissions/mcpServer/:id/effective',
      access: 'signed-in',
      scope: 'mcp',
      handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json({ permissionBits: getManagedServer(parts, caller, id).bits });
      },
    },
  ];
}

/** Something that people share: servers, blocks and sets, all with the same sets of bits. */
interface SharedResource {
  /** As it stands in the path and in the answer. */
  readonly type: 'mcpServer' | 'block' | 'set';
  readonly view: (caller: UserPrincipal, id: string) => Promise<SharingView>;
  readonly share: (caller: UserPrincipal, id: string, request: ShareRequest) => Promise<SharingView>;
}

/** With whom it is shared. The id of a server is its `dbId`; of a server of the operator its name. */
export function sharingRoutes({ type, view, share }: SharedResource): Route[] {
  const path = `/api/permissions/${type}/:id`;
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json({ resourceType: type, resourceId: id, ...(await view(caller, id)) });
      },
    },
    {
      method: 'put',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const results = await share(caller, id, readBody(req, ShareRequest));
        res.json({ message: 'Permissions updated successfully', results });
      },
    },
  ];
}
