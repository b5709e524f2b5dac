import { connectPagePath, type EndpointList, type JsonObject, type MissingServer } from '@behalf/gateway';
import type { McpRequest } from '../mcpRequest.ts';
import { endpointKey } from '../clientEndpoint.ts';
import type { MethodParts } from './methodParts.ts';

/** For how long a list may be kept by a client that hears of changes. */
const SUBSCRIBED_TTL_MS = 60_000;

/**
 * A page of a list. It is this caller's alone, whatever the servers say of theirs; those of which nothing could be shown
 * are named in `_meta`, so that nobody takes them for empty.
 */
export function listResult(
  { results, paginate, baseUrl }: MethodParts,
  { caller, endpoint, method, params, era }: McpRequest,
  member: string,
  { items, missing, hasChangeNotifications }: EndpointList,
): string {
  const list = { endpoint: endpointKey(endpoint), method, items };
  const page = paginate(caller, list, params['cursor']);
  const missingServers = describeMissing(missing, baseUrl());
  return results.fromGateway(era, {
    [member]: page.items,
    ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
    ...(era === 'modern' && {
      ttlMs: hasChangeNotifications && missing.length === 0 ? SUBSCRIBED_TTL_MS : 0,
      cacheScope: 'private',
    }),
    ...(missingServers.length > 0 && { _meta: { 'behalf/servers': missingServers } }),
  });
}

/** What clients are told of servers of which something is missing. */
export function describeMissing(missing: readonly MissingServer[], baseUrl: string): JsonObject[] {
  return missing.map(({ server, state, code }) => ({
    ...{ server: server.name, state, code },
    ...(state !== 'unreachable' && { connectUrl: new URL(connectPagePath(server), baseUrl).href }),
  }));
}
