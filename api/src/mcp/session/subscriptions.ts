import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { McpSession } from './sessions.ts';
import type { SharedLists } from './sharedLists.ts';

/** The resources that legacy sessions want to hear of: told to one replica, heard at the one that holds the stream. */
export interface SessionSubscriptions {
  read(session: McpSession): Promise<readonly string[]>;
  add(session: McpSession, uri: string): Promise<void>;
  remove(session: McpSession, uri: string): Promise<void>;
}

export const MAX_SUBSCRIPTIONS = 100;
/** The store is everybody's, and an address is the client's own text. */
export const MAX_URI_LENGTH = 4_096;
export const MAX_TOTAL_URI_LENGTH = 64 * 1024;

export function createSessionSubscriptions({
  lists,
  changes,
  clock,
}: {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}): SessionSubscriptions {
  const listKey = ({ key }: McpSession) => `resources:${key}`;

  async function change(session: McpSession, work: (list: readonly string[]) => readonly string[]) {
    const ttlMs = Math.max(1, session.expiresAt - clock.now());
    if (await lists.change(listKey(session), ttlMs, work))
      await changes.publish({ topic: 'mcpSessions', id: session.key });
  }

  return {
    read: (session) => lists.read(listKey(session)),
    async add(session, uri) {
      if (uri.length > MAX_URI_LENGTH)
        throw new RpcFault(rpcCode.invalidParams, `A resource URI has at most ${MAX_URI_LENGTH} characters`);
      await change(session, (uris) => {
        if (uris.includes(uri)) return uris;
        if (uris.length >= MAX_SUBSCRIPTIONS)
          throw new RpcFault(
            rpcCode.invalidParams,
            `A session has at most ${MAX_SUBSCRIPTIONS} subscriptions`,
          );
        if (uris.reduce((sum, { length }) => sum + length, uri.length) > MAX_TOTAL_URI_LENGTH)
          throw new RpcFault(
            rpcCode.invalidParams,
            'The subscriptions of this session exceed the total length limit',
          );
        return [...uris, uri];
      });
    },
    remove: (session, uri) =>
      change(session, (uris) => (uris.includes(uri) ? uris.filter((entry) => entry !== uri) : uris)),
  };
}
