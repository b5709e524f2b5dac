import { connectPagePath, type EndpointList, type JsonObject, type MissingServer } from '@behalf/gateway';
import type { Asked } from '../asked.ts';
import { endpointKey } from '../doorEndpoint.ts';
import type { MethodParts } from './methodParts.ts';

/** For how long a list may be kept by a client that hears of changes. */
const FOLLOWED_MS = 60_000;

/**
 * A page of a list. It is this caller's alone, whatever the servers say of theirs; those of which nothing could be shown
 * are named in `_meta`, so that nobody takes them for empty.
 */
export function listResult(
  { results, takePage, base }: MethodParts,
  { caller, endpoint, method, params, era }: Asked,
  member: string,
  { items, missing, hasChangeNotifications: followed }: EndpointList,
): string {
  const list = { endpoint: endpointKey(endpoint), method, items };
  const page = takePage(caller, list, params['cursor']);
  const notices = missingNotices(missing, base());
  return results.own(era, {
    [member]: page.items,
    ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
    ...(era === 'modern' && {
      ttlMs: followed && missing.length === 0 ? FOLLOWED_MS : 0,
      cacheScope: 'private',
    }),
    ...(notices.length > 0 && { _meta: { 'behalf/servers': notices } }),
  });
}

/** What clients are told of servers of which something is missing. */
export function missingNotices(missing: readonly MissingServer[], base: string): JsonObject[] {
  return missing.map(({ server, state, code }) => ({
    ...{ server: server.name, state, code },
    ...(state !== 'unreachable' && { connectUrl: new URL(connectPagePath(server), base).href }),
  }));
}
