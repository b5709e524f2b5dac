import { StoreUnavailableError } from '../errors.ts';
import { isDuplicateKey, isOutage } from './failures.ts';

/** What every command of the store goes through: failures get one name, and closing waits for what is in flight. */
export interface CommandRunner {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For upserts by `_id`. Two that meet on a missing document can both try to insert it, and MongoDB does not promise
   * to settle that itself; whoever loses finds the document when it tries again.
   */
  runUpsert<T>(work: () => Promise<T>): Promise<T>;
  /** No more work enters; resolves when all that did has ended. */
  close(): Promise<void>;
}

const MAX_UPSERT_ATTEMPTS = 5;

export function createCommandRunner(): CommandRunner {
  const inFlight = new Set<Promise<unknown>>();
  let closed = false;

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new StoreUnavailableError('mongo', new Error('The store is closed'));
    const promise = work();
    inFlight.add(promise);
    try {
      return await promise;
    } catch (error) {
      throw isOutage(error) ? new StoreUnavailableError('mongo', error) : error;
    } finally {
      inFlight.delete(promise);
    }
  };

  return {
    run,
    async runUpsert(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await run(work);
        } catch (error) {
          if (!isDuplicateKey(error) || attempt === MAX_UPSERT_ATTEMPTS) throw error;
        }
      }
    },
    async close() {
      closed = true;
      await Promise.allSettled(inFlight);
    },
  };
}
