import { createHash } from 'node:crypto';
import {
  type EndpointList,
  type JsonObject,
  type MissingServer,
  type Principal,
  connectPagePath,
} from '@behalf/gateway';
import type { Keyring } from '@behalf/kernel';
import { endpointKey } from '../endpoint.ts';
import type { McpRequest } from '../request.ts';
import { invalidParams } from '../rpc.ts';
import { callerSealContext, openJson } from '../sealed.ts';
import type { MethodParts } from './serverCallRunner.ts';

/** Cache lifetime for clients that can subscribe to changes of the list. */
const SUBSCRIBED_TTL_MS = 60_000;

/**
 * Serializes one page of a list. The list is private to the caller, whatever the servers declare. `_meta` names the servers
 * whose items are missing, so that a client does not take them for empty.
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

/** Servers whose items are missing or incomplete, with the page where the user can connect them. */
export function describeMissing(missing: readonly MissingServer[], baseUrl: string): JsonObject[] {
  return missing.map(({ server, state, code }) => ({
    ...{ server: server.name, state, code },
    ...(state !== 'unreachable' && { connectUrl: new URL(connectPagePath(server), baseUrl).href }),
  }));
}

interface ListPage {
  readonly items: readonly JsonObject[];
  readonly nextCursor: string | undefined;
}

/** Returns the page of a list that a cursor names. The list is built again for each request. */
export type Paginate = (
  caller: Principal,
  list: { readonly endpoint: string; readonly method: string; readonly items: readonly JsonObject[] },
  cursor: unknown,
) => ListPage;

const PAGE_ITEMS = 500;
const MAX_CURSOR_LENGTH = 4_096;

/**
 * Pagination with sealed cursors. A cursor is bound to the caller, endpoint and method, and contains a hash of the list. If the
 * list has changed, the cursor is invalid and the client starts again instead of missing items.
 */
export function createPaginate(keyring: Keyring, pageItems = PAGE_ITEMS): Paginate {
  return (caller, { endpoint, method, items }, cursor) => {
    // Some clients send an empty cursor for the first page. The gateway never issues one.
    const isFirst = cursor === undefined || cursor === '';
    if (isFirst && items.length <= pageItems) return { items, nextCursor: undefined };
    const context = callerSealContext(caller, 'mcp-cursor', method, [endpoint]);
    const revision = revisionOf(items);
    let start = 0;
    if (!isFirst) {
      const value = openJson(keyring, cursor, context, MAX_CURSOR_LENGTH);
      const [listRevision, position] = Array.isArray(value) ? (value as unknown[]) : [];
      if (listRevision !== revision || typeof position !== 'number')
        throw invalidParams('The cursor is no longer valid. List again from the beginning.');
      start = position;
    }
    const next = start + pageItems;
    return {
      items: items.slice(start, next),
      nextCursor: next < items.length ? keyring.seal(JSON.stringify([revision, next]), context) : undefined,
    };
  };
}

/** Covers the identity of the items only: a changed description does not invalidate a cursor. */
function revisionOf(items: readonly JsonObject[]): string {
  const names = items.map(({ name, uri, uriTemplate }) => [name, uri, uriTemplate]);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 22);
}
