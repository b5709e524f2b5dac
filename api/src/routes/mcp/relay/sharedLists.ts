import { type LeaseParts, withMaintenanceLease } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';

/** Lists in the coordination store that several replicas change concurrently. A lease per list prevents lost updates. */
export interface SharedLists {
  read(key: string): Promise<readonly string[]>;
  /** Changes a list under its lease. Returns false if `update` returned the same list. Rejects if `update` throws. */
  change(key: string, ttlMs: number, update: ListUpdate): Promise<boolean>;
}

type ListUpdate = (list: readonly string[]) => readonly string[];

interface QueuedUpdate {
  readonly update: ListUpdate;
  readonly resolve: (isChanged: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Updates of one list that may wait at this replica. No well-behaved client comes close. */
const MAX_QUEUED = 1_000;

export function createSharedLists(parts: LeaseParts & { readonly cache: Cache }): SharedLists {
  const { cache } = parts;
  const queues = new Map<string, QueuedUpdate[]>();

  async function read(key: string): Promise<readonly string[]> {
    const text = await cache.get(key);
    return text === undefined ? [] : (JSON.parse(text) as string[]);
  }

  async function applyBatch(key: string, ttlMs: number, batch: readonly QueuedUpdate[]): Promise<void> {
    await withMaintenanceLease(parts, ['mcp-list', key], async (assertLeaseHeld) => {
      const original = await read(key);
      let list = original;
      const resolvers: (() => void)[] = [];
      for (const { update, resolve, reject } of batch) {
        try {
          const next = update(list);
          const isChanged = next !== list;
          list = next;
          resolvers.push(() => resolve(isChanged));
        } catch (error) {
          reject(error);
        }
      }
      if (list !== original) {
        await assertLeaseHeld();
        await cache.set(key, JSON.stringify(list), ttlMs);
      }
      for (const resolveUpdate of resolvers) resolveUpdate();
    });
  }

  /** Applies all updates that arrived during the previous write in one batch, so that they need one lease. */
  async function drain(key: string, queue: QueuedUpdate[], ttlMs: number): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      try {
        await applyBatch(key, ttlMs, batch);
      } catch (error) {
        // Has no effect on updates that are already settled.
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(key);
  }

  return {
    read,
    change: (key, ttlMs, update) =>
      new Promise((resolve, reject) => {
        const queued = { update, resolve, reject };
        const queue = queues.get(key);
        if (queue && queue.length >= MAX_QUEUED) reject(new Error('Too many concurrent changes of one list'));
        else if (queue) queue.push(queued);
        else {
          const newQueue = [queued];
          queues.set(key, newQueue);
          void drain(key, newQueue, ttlMs);
        }
      }),
  };
}
