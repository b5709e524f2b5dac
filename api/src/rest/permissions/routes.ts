import type { SearchParts, ShareParts } from '@behalf/gateway';
import type { Route } from '../../http.ts';
import { aclRolesRoute } from './aclRoles.ts';
import { effectiveRoutes } from './effective.ts';
import { sharingRoutes } from './mcpServer.ts';
import { searchPrincipalsRoute } from './searchPrincipals.ts';

/** Words come before `:id`: the first path that fits is taken. */
export function permissionRoutes(parts: ShareParts & SearchParts): Route[] {
  return [searchPrincipalsRoute(parts), aclRolesRoute, ...effectiveRoutes(parts), ...sharingRoutes(parts)];
}
