import { abortReason, type Cancellation } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { Connection } from './connection.ts';

export interface PendingConnectionTask {
  open(signal: AbortSignal): Promise<Upstream>;
  /** Makes a connection of it, or names the one that makes it superfluous. */
  adopt(upstream: Upstream): Connection;
  /** Runs when everybody who waited has the connection. */
  onDelivered(connection: Connection): void;
  /** Nobody wants it any more. */
  discard(upstream: Upstream): void;
  /** Runs last, whatever came of it, and before anybody could join again. */
  onSettled(): void;
}

/**
 * One connection being opened, for everybody who asks for it meanwhile. Nobody's leaving stops it, unless it was
 * abandoned: then the last one's does. It is a single flight whose waiters become borrowers in the same instant in
 * which the connection is born: in between, somebody else could evict it.
 */
export interface PendingConnection {
  /** Resolves with a connection that counts this caller among its borrowers. */
  join(signal: Cancellation): Promise<Connection>;
  /** Whoever waits is served; if nobody does, it stops. */
  abandon(): void;
  /** Stops it and fails everybody with this error. What still comes of it is thrown away. */
  cancel(error: Error): void;
  /** Resolves when nothing is left to come. */
  readonly settled: Promise<void>;
}

interface Waiter {
  resolve(connection: Connection): void;
  reject(error: unknown): void;
}

export function startPendingConnection(task: PendingConnectionTask): PendingConnection {
  const abort = new AbortController();
  const waiters = new Set<Waiter>();
  let isAbandoned = false;

  const stop = (error: Error) => {
    abort.abort(error);
    for (const waiter of waiters) waiter.reject(error);
    waiters.clear();
  };
  const stopIfUnused = () => {
    if (isAbandoned && waiters.size === 0) stop(new Error('No caller is waiting for this connection'));
  };

  async function run(): Promise<void> {
    try {
      // Inside an async function: a failure at once must find the callers who join in this very moment.
      const upstream = await (async () => task.open(abort.signal))();
      if (abort.signal.aborted) {
        task.discard(upstream);
        return;
      }
      const connection = task.adopt(upstream);
      for (const waiter of waiters) {
        connection.borrow();
        waiter.resolve(connection);
      }
      task.onDelivered(connection);
    } catch (error) {
      for (const waiter of waiters) waiter.reject(error);
    } finally {
      waiters.clear();
      task.onSettled();
    }
  }

  return {
    join: (signal) =>
      new Promise((resolve, reject) => {
        if (abort.signal.aborted) return reject(abortReason(abort.signal));
        if (signal.aborted) return reject(abortReason(signal));
        const onAbort = () => {
          waiters.delete(waiter);
          reject(abortReason(signal));
          stopIfUnused();
        };
        const removeAbortListener = () => signal.removeEventListener('abort', onAbort);
        const waiter: Waiter = {
          resolve(connection) {
            removeAbortListener();
            resolve(connection);
          },
          reject(error) {
            removeAbortListener();
            // The very error that the opening ended with is the point.
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            reject(error);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiters.add(waiter);
      }),
    abandon() {
      isAbandoned = true;
      stopIfUnused();
    },
    cancel: stop,
    settled: run(),
  };
}
