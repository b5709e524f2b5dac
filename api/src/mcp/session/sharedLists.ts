import { withLease, type WithLeaseParts } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';

/** Lists in the coordination store that several replicas change at once, none of whose changes is lost. */
export interface SharedLists {
  read(slot: string): Promise<readonly string[]>;
  /** Runs where nobody else changes this list. What the work throws is its own. False when it gave back what it got. */
  change(slot: string, ttlMs: number, work: Change): Promise<boolean>;
}

export type Change = (list: readonly string[]) => readonly string[];

interface Waiting {
  readonly work: Change;
  readonly resolve: (changed: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** More than this many wait for one list in no client that means well. */
const MOST_WAITING = 1_000;

export function createSharedLists(parts: WithLeaseParts & { readonly cache: Cache }): SharedLists {
  const { cache } = parts;
  const queues = new Map<string, Waiting[]>();

  async function read(slot: string): Promise<readonly string[]> {
    const text = await cache.get(slot);
    return text === undefined ? [] : (JSON.parse(text) as string[]);
  }

  /** What came while others were written is written together: a line of a hundred is no hundred leases. */
  async function drain(slot: string, queue: Waiting[], ttlMs: number): Promise<void> {
    while (queue.length > 0) {
      const turn = queue.splice(0);
      try {
        await withLease(parts, ['mcp-list', slot], async (stillAlone) => {
          const before = await read(slot);
          let list = before;
          const done: (() => void)[] = [];
          for (const one of turn) {
            try {
              const next = one.work(list);
              const changed = next !== list;
              list = next;
              done.push(() => one.resolve(changed));
            } catch (error) {
              one.reject(error);
            }
          }
          if (list !== before) {
            await stillAlone();
            await cache.set(slot, JSON.stringify(list), ttlMs);
          }
          for (const answer of done) answer();
        });
      } catch (error) {
        // Who was answered before hears nothing of it.
        for (const { reject } of turn) reject(error);
      }
    }
    queues.delete(slot);
  }

  return {
    read,
    change: (slot, ttlMs, work) =>
      new Promise((resolve, reject) => {
        const waiting = { work, resolve, reject };
        const queue = queues.get(slot);
        if (queue && queue.length >= MOST_WAITING) reject(new Error('Too many changes of one list'));
        else if (queue) queue.push(waiting);
        else {
          const own = [waiting];
          queues.set(slot, own);
          void drain(slot, own, ttlMs);
        }
      }),
  };
}
