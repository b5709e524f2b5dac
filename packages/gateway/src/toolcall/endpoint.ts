import type { ErrorCode } from '@behalf/contracts';
import type { ServerState } from '../catalog/eachServer.ts';
import type { ListFeeds } from '../catalog/listFeeds.ts';
import type { Listings } from '../catalog/listings.ts';
import type { Naming } from '../catalog/naming.ts';
import type { ServerKeys } from '../catalog/serverKeys.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { CallParts } from './callTool.ts';
import type { Allowed } from './checkAccess.ts';
import { findServer, findServers } from './findServer.ts';
import type { ListToolsParts } from './listTools.ts';

/** What a door shows: one server under its own names, or all that the caller may use, side by side. */
export type Endpoint = { readonly kind: 'one'; readonly server: string } | { readonly kind: 'all' };

export interface EndpointParts extends Omit<CallParts, 'registry'>, ListToolsParts {
  readonly registry: ListToolsParts['registry'];
  readonly serverKeys: ServerKeys;
  /** As the configuration has it now. */
  readonly naming: () => Naming;
  readonly listings: Listings;
  readonly listFeeds: Pick<ListFeeds, 'follows'>;
}

/** A server of which nothing is shown, or not all, and why. */
export interface MissingServer {
  readonly server: ServerSnapshot;
  readonly state: Exclude<ServerState, 'connected'>;
  readonly code: ErrorCode;
}

/** The servers behind an endpoint, in an order that is the same everywhere. */
export function endpointServers(parts: EndpointParts, principal: Principal, endpoint: Endpoint): Allowed[] {
  if (endpoint.kind === 'one') return [findServer(parts, principal, endpoint.server)];
  return findServers(parts, principal).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the names of this server begin with there; undefined where they stand alone. */
export function keyAt(
  parts: Pick<EndpointParts, 'serverKeys'>,
  { tenant }: Principal,
  endpoint: Endpoint,
  server: ServerSnapshot,
): string | undefined {
  return endpoint.kind === 'one' ? undefined : parts.serverKeys.keyOf(tenant, server);
}
