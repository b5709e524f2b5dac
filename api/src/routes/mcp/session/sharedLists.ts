import { type LeaseParts, withMaintenanceLease } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { RpcFault, rpcCode } from '../rpc.ts';
import type { McpSession } from './sessions.ts';

/** Lists in the coordination store that several replicas change at once, none of whose changes is lost. */
export interface SharedLists {
  read(slot: string): Promise<readonly string[]>;
  /** Runs where nobody else changes this list. What the work throws is its own. False when it gave back what it got. */
  change(slot: string, ttlMs: number, work: ListUpdate): Promise<boolean>;
}

type ListUpdate = (list: readonly string[]) => readonly string[];

interface QueuedUpdate {
  readonly work: ListUpdate;
  readonly resolve: (changed: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** More than this many wait for one list in no client that means well. */
const MAX_QUEUED = 1_000;

export function createSharedLists(parts: LeaseParts & { readonly cache: Cache }): SharedLists {
  const { cache } = parts;
  const queues = new Map<string, QueuedUpdate[]>();

  async function read(slot: string): Promise<readonly string[]> {
    const text = await cache.get(slot);
    return text === undefined ? [] : (JSON.parse(text) as string[]);
  }

  /** What came while others were written is written together: a line of a hundred is no hundred leases. */
  async function drain(slot: string, queue: QueuedUpdate[], ttlMs: number): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      try {
        await withMaintenanceLease(parts, ['mcp-list', slot], async (assertLeaseHeld) => {
          const original = await read(slot);
          let list = original;
          const resolvers: (() => void)[] = [];
          for (const update of batch) {
            try {
              const next = update.work(list);
              const changed = next !== list;
              list = next;
              resolvers.push(() => update.resolve(changed));
            } catch (error) {
              update.reject(error);
            }
          }
          if (list !== original) {
            await assertLeaseHeld();
            await cache.set(slot, JSON.stringify(list), ttlMs);
          }
          for (const resolveUpdate of resolvers) resolveUpdate();
        });
      } catch (error) {
        // Who was answered before hears nothing of it.
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(slot);
  }

  return {
    read,
    change: (slot, ttlMs, work) =>
      new Promise((resolve, reject) => {
        const update = { work, resolve, reject };
        const queue = queues.get(slot);
        if (queue && queue.length >= MAX_QUEUED) reject(new Error('Too many concurrent changes of one list'));
        else if (queue) queue.push(update);
        else {
          const newQueue = [update];
          queues.set(slot, newQueue);
          void drain(slot, newQueue, ttlMs);
        }
      }),
  };
}

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
