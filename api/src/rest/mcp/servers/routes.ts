import type { ConfigureParts, ViewParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { changeServerRoute } from './changeServer.ts';
import { checkServerRoute } from './checkServer.ts';
import { createServerRoute } from './createServer.ts';
import { listServersRoute } from './listServers.ts';
import { removeServerRoute } from './removeServer.ts';
import { viewServerRoute } from './viewServer.ts';

/** Servers that users define, and those they find. */
export function serverRoutes(parts: ConfigureParts & ViewParts): Route[] {
  return [
    listServersRoute(parts),
    createServerRoute(parts),
    checkServerRoute(parts),
    viewServerRoute(parts),
    changeServerRoute(parts),
    removeServerRoute(parts),
  ];
}
