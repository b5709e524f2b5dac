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
import { type Route, signedInRoute } from '../../http/route.ts';

const PATH = '/api/permissions';

const aclRoleTexts: Record<AclRole, { name: string; description: string }> = {
  mcpServer_viewer: { name: 'Viewer', description: 'May see and use the server.' },
  mcpServer_editor: { name: 'Editor', description: 'May change it as well.' },
  mcpServer_owner: { name: 'Owner', description: 'May delete and share it as well.' },
};

const aclRoleViews: AclRoleView[] = (Object.keys(aclRoles) as AclRole[]).map((accessRoleId) => ({
  accessRoleId,
  ...aclRoleTexts[accessRoleId],
  permBits: aclRoles[accessRoleId],
}));

/**
 * Permissions on single servers as bits: VIEW 1, EDIT 2, DELETE 4, SHARE 8. Literal paths come before `:id`, because the
 * first matching route is used.
 */
export function permissionRoutes(parts: ShareParts & SearchParts & ManageParts): Route[] {
  return [
    signedInRoute('get', `${PATH}/search-principals`, 'servers', async (req, res, caller) => {
      const search = parseBody(req.query, PrincipalSearch);
      const results = await searchPrincipals(parts, caller, search);
      const { q: query, limit, types } = search;
      const view: PrincipalSearchView = {
        ...{ query, limit, ...(types && { types }), results, count: results.length },
        sources: { local: results.length, entra: 0 },
      };
      res.json(view);
    }),
    signedInRoute('get', `${PATH}/mcpServer/roles`, 'servers', (_req, res) => res.json(aclRoleViews)),
    signedInRoute('get', `${PATH}/mcpServer/effective/all`, 'mcp', (_req, res, caller) =>
      res.json(listManageBits(parts, caller)),
    ),
    signedInRoute('get', `${PATH}/mcpServer/:id/effective`, 'mcp', (req, res, caller) =>
      res.json({ permissionBits: getManagedServer(parts, caller, req.params.id).bits }),
    ),
    ...sharingRoutes({
      type: 'mcpServer',
      view: (caller, id) => getServerSharing(parts, caller, id),
      share: (caller, id, request) => shareServer(parts, caller, id, request),
    }),
  ];
}

/** A kind of resource that users share: servers, blocks and sets use the same permission bits. */
interface SharedResource {
  readonly type: 'mcpServer' | 'block' | 'set';
  readonly view: (caller: UserPrincipal, id: string) => Promise<SharingView>;
  readonly share: (caller: UserPrincipal, id: string, request: ShareRequest) => Promise<SharingView>;
}

/** Reads and changes the ACL of one resource. The id of a server is its `dbId`, or its name if the operator defined it. */
export function sharingRoutes({ type, view, share }: SharedResource): Route[] {
  const path = `${PATH}/${type}/:id` as const;
  return [
    signedInRoute('get', path, 'servers', async (req, res, caller) => {
      const { id } = req.params;
      res.json({ resourceType: type, resourceId: id, ...(await view(caller, id)) });
    }),
    signedInRoute('put', path, 'servers', async (req, res, caller) => {
      const results = await share(caller, req.params.id, readBody(req, ShareRequest));
      res.json({ message: 'Permissions updated successfully', results });
    }),
  ];
}
