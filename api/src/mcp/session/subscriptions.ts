import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { McpSession } from './sessions.ts';
import type { SharedLists } from './sharedLists.ts';

/** The resources that legacy sessions want to hear of: told to one replica, heard at the one that holds the stream. */
export interface Subscriptions {
  read(session: McpSession): Promise<readonly string[]>;
  add(session: McpSession, address: string): Promise<void>;
  remove(session: McpSession, address: string): Promise<void>;
}

export const MOST_SUBSCRIBED = 100;
/** The store is everybody's, and an address is the client's own text. */
export const LONGEST_ADDRESS = 4_096;
export const LONGEST_IN_ALL = 64 * 1024;

export function createSubscriptions({
  lists,
  changes,
  clock,
}: {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}): Subscriptions {
  const slot = ({ key }: McpSession) => `resources:${key}`;

  async function change(session: McpSession, work: (list: readonly string[]) => readonly string[]) {
    const left = Math.max(1, session.expiresAt - clock.now());
    if (await lists.change(slot(session), left, work))
      await changes.publish({ topic: 'mcpSessions', id: session.key });
  }

  return {
    read: (session) => lists.read(slot(session)),
    async add(session, address) {
      if (address.length > LONGEST_ADDRESS)
        throw new RpcFault(rpcCode.invalidParams, `An address has ${LONGEST_ADDRESS} characters at most`);
      await change(session, (known) => {
        if (known.includes(address)) return known;
        if (known.length >= MOST_SUBSCRIBED)
          throw new RpcFault(rpcCode.invalidParams, `A session has ${MOST_SUBSCRIBED} subscriptions at most`);
        if (known.reduce((sum, { length }) => sum + length, address.length) > LONGEST_IN_ALL)
          throw new RpcFault(
            rpcCode.invalidParams,
            'The subscriptions of this session are too long together',
          );
        return [...known, address];
      });
    },
    remove: (session, address) =>
      change(session, (known) => (known.includes(address) ? known.filter((one) => one !== address) : known)),
  };
}
