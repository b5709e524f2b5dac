import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { McpSession } from './sessions.ts';

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
  cache,
  changes,
  clock,
}: {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}): Subscriptions {
  const slot = ({ key }: McpSession) => `resources:${key}`;

  async function read(session: McpSession): Promise<readonly string[]> {
    const text = await cache.get(slot(session));
    return text === undefined ? [] : (JSON.parse(text) as string[]);
  }

  /** Two at once may lose one: a client that subscribes to many things does so one after the other. */
  async function write(session: McpSession, addresses: readonly string[]): Promise<void> {
    const left = Math.max(1, session.expiresAt - clock.now());
    await cache.set(slot(session), JSON.stringify(addresses), left);
    await changes.publish({ topic: 'mcp', id: session.key });
  }

  return {
    read,
    async add(session, address) {
      if (address.length > LONGEST_ADDRESS)
        throw new RpcFault(rpcCode.invalidParams, `An address has ${LONGEST_ADDRESS} characters at most`);
      const known = await read(session);
      if (known.includes(address)) return;
      if (known.length >= MOST_SUBSCRIBED)
        throw new RpcFault(rpcCode.invalidParams, `A session has ${MOST_SUBSCRIBED} subscriptions at most`);
      if (known.reduce((sum, { length }) => sum + length, address.length) > LONGEST_IN_ALL)
        throw new RpcFault(rpcCode.invalidParams, 'The subscriptions of this session are too long together');
      await write(session, [...known, address]);
    },
    async remove(session, address) {
      const known = await read(session);
      if (known.includes(address))
        await write(
          session,
          known.filter((one) => one !== address),
        );
    },
  };
}
