import { createHash } from 'node:crypto';
import {
  type EndpointList,
  type JsonObject,
  type MissingServer,
  type Principal,
  connectPagePath,
  principalKey,
} from '@behalf/gateway';
import type { Keyring, SealContext } from '@behalf/kernel';
import { endpointKey } from '../endpoint.ts';
import type { McpRequest } from '../request.ts';
import { RpcFault, rpcCode } from '../rpc.ts';
import type { MethodParts } from './serverCallRunner.ts';

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

/** One page of a list, and how to ask for the next. */
interface ListPage {
  readonly items: readonly JsonObject[];
  readonly nextCursor: string | undefined;
}

/** Pages of a list that is put together anew with each request. */
export type Paginate = (
  caller: Principal,
  list: { readonly endpoint: string; readonly method: string; readonly items: readonly JsonObject[] },
  cursor: unknown,
) => ListPage;

const PAGE_ITEMS = 500;

/**
 * A cursor is sealed to its caller, endpoint and list, and names the list as it was: where that is another by now, the
 * client begins again instead of missing something.
 */
export function createPaginate(keyring: Keyring, pageItems = PAGE_ITEMS): Paginate {
  return (caller, { endpoint, method, items }, cursor) => {
    // An empty one is a cursor too, and we give none out: whoever has none yet may say so with it.
    const isFirst = cursor === undefined || cursor === '';
    if (isFirst && items.length <= pageItems) return { items, nextCursor: undefined };
    const context = toSealContext(caller, endpoint, method);
    const revision = revisionOf(items);
    const start = isFirst ? 0 : readPosition(keyring, cursor, context, revision);
    const next = start + pageItems;
    return {
      items: items.slice(start, next),
      nextCursor: next < items.length ? keyring.seal(JSON.stringify([revision, next]), context) : undefined,
    };
  };
}

function readPosition(keyring: Keyring, cursor: unknown, context: SealContext, revision: string): number {
  if (typeof cursor !== 'string') throw invalidCursor();
  let value: unknown;
  try {
    value = JSON.parse(keyring.open(cursor, context));
  } catch {
    throw invalidCursor();
  }
  const [listRevision, position] = Array.isArray(value) ? (value as unknown[]) : [];
  if (listRevision !== revision || typeof position !== 'number') throw invalidCursor();
  return position;
}

function invalidCursor(): RpcFault {
  return new RpcFault(rpcCode.invalidParams, 'The cursor is no longer valid. List again from the beginning.');
}

/** By what tells items apart: a description that was reworded moves nothing. */
function revisionOf(items: readonly JsonObject[]): string {
  const names = items.map(({ name, uri, uriTemplate }) => [name, uri, uriTemplate]);
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 22);
}

function toSealContext(caller: Principal, endpoint: string, method: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    server: '-',
    kind: 'mcp-cursor',
    field: method,
    binding: [endpoint],
  };
}
