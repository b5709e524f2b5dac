import { StoreUnavailableError } from '../errors.ts';
import { isDuplicateKey, isOutage } from './failures.ts';

/** What every command of the store goes through: failures get one name, and closing waits for what is in flight. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For upserts by `_id`. Two that meet on a missing document can both try to insert it, and MongoDB does not promise
   * to settle that itself; whoever loses finds the document when it tries again.
   */
  runUpsert<T>(work: () => Promise<T>): Promise<T>;
  /** No more work enters; resolves when all that did has ended. */
  close(): Promise<void>;
}

const UPSERT_TRIES = 5;

export function createGate(): Gate {
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new StoreUnavailableError('mongo', new Error('The store is closed'));
    const working = work();
    inFlight.add(working);
    try {
      return await working;
    } catch (error) {
      throw isOutage(error) ? new StoreUnavailableError('mongo', error) : error;
    } finally {
      inFlight.delete(working);
    }
  };

  return {
    run,
    async runUpsert(work) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await run(work);
        } catch (error) {
          if (!isDuplicateKey(error) || tries === UPSERT_TRIES) throw error;
        }
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled(inFlight);
    },
  };
}
