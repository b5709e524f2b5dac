import type { ErrorCode } from '@behalf/contracts';
import type { ServerAvailability } from '../catalog/loadFromEachServer.ts';
import type { ListSubscriptions } from '../catalog/listSubscriptions.ts';
import type { ItemListCache } from '../catalog/itemListCache.ts';
import type { Naming } from '../catalog/naming.ts';
import type { ServerKeys } from '../catalog/serverKeys.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { CallParts } from './callTool.ts';
import type { AllowedServer } from './checkAccess.ts';
import { findServer, listAllowedServers } from './findServer.ts';
import type { ListToolsParts } from './listTools.ts';

/** What a door shows: one server under its own names, or all that the caller may use, side by side. */
export type EndpointSelector = { readonly kind: 'one'; readonly server: string } | { readonly kind: 'all' };

export interface EndpointParts extends Omit<CallParts, 'registry'>, ListToolsParts {
  readonly registry: ListToolsParts['registry'];
  readonly serverKeys: ServerKeys;
  /** As the configuration has it now. */
  readonly naming: () => Naming;
  readonly itemLists: ItemListCache;
  readonly listSubscriptions: Pick<ListSubscriptions, 'isSubscribed'>;
}

/** A server of which nothing is shown, or not all, and why. */
export interface MissingServer {
  readonly server: ServerSnapshot;
  readonly state: Exclude<ServerAvailability, 'connected'>;
  readonly code: ErrorCode;
}

/** The servers behind an endpoint, in an order that is the same everywhere. */
export function endpointServers(
  parts: EndpointParts,
  principal: Principal,
  endpoint: EndpointSelector,
): AllowedServer[] {
  if (endpoint.kind === 'one') return [findServer(parts, principal, endpoint.server)];
  return listAllowedServers(parts, principal).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the names of this server begin with there; undefined where they stand alone. */
export function serverKeyAt(
  parts: Pick<EndpointParts, 'serverKeys'>,
  { tenant }: Principal,
  endpoint: EndpointSelector,
  server: ServerSnapshot,
): string | undefined {
  return endpoint.kind === 'one' ? undefined : parts.serverKeys.keyOf(tenant, server);
}
