import { shareServer, getServerSharing, type SearchParts, type ShareParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import { aclRolesRoute } from './aclRoles.ts';
import { effectiveRoutes } from './effective.ts';
import { searchPrincipalsRoute } from './searchPrincipals.ts';
import { sharingRoutes } from './sharing.ts';

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
