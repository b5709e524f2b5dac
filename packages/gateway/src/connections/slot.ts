import { type Cancellation, abortReason, rejectOnAbort } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { Connection, ConnectionRegistry } from './connection.ts';

interface AdoptResult {
  readonly connection: Connection;
  /** Which cache lends the connection from now on. `none`: only the waiting callers use it. */
  readonly cachedIn: 'slot' | 'stateless_pool' | 'none';
}

/** How one caller opens the connection of a slot. */
export interface SlotTask {
  /** Runs before opening. Throws if a limit is reached. */
  beforeOpen?(): void;
  open(signal: AbortSignal): Promise<Upstream>;
  /** Makes a connection of the upstream, or returns an existing connection that replaces it. */
  adopt(upstream: Upstream, onRetired: (connection: Connection) => void): AdoptResult;
  onSettled?(): void;
}

interface Waiter {
  resolve(connection: Connection): void;
  reject(error: unknown): void;
}

/** A connection that is being opened for all callers that wait for it. */
interface PendingConnection {
  /** Resolves with a connection that counts this caller as a borrower. */
  join(signal: Cancellation): Promise<Connection>;
  /** Lets the waiting callers finish. Stops opening when the last one aborts. */
  abandon(): void;
  readonly settled: Promise<void>;
}

export type Slot = ReturnType<typeof createSlot>;

/**
 * Holds at most one connection and opens it as a single flight. A caller that aborts never stops opening, unless the
 * slot was retired and no other caller waits. Waiting callers become borrowers synchronously when the connection
 * exists, because an eviction could close it before a promise callback runs.
 */
export function createSlot(parts: {
  readonly registry: ConnectionRegistry;
  /** The slot has no connection and opens none. */
  readonly onEmpty: () => void;
}) {
  const { registry, onEmpty } = parts;
  let connection: Connection | undefined;
  let pending: PendingConnection | undefined;
  let isRetired = false;
  let queuedReplacements = 0;

  const notifyIfEmpty = () => {
    if (!connection && !pending && queuedReplacements === 0) onEmpty();
  };
  const onRetired = (retiredConnection: Connection) => {
    if (connection !== retiredConnection) return;
    connection = undefined;
    notifyIfEmpty();
  };

  /** Runs after the waiting callers borrowed the connection. */
  function keepOrRetire({ connection: opened, cachedIn }: AdoptResult): void {
    if (cachedIn === 'none' || (cachedIn === 'slot' && isRetired)) return void opened.retire();
    // All callers of the one request that it was opened for have aborted.
    if (opened.isSingleUse && opened.borrowerCount === 0) return void opened.retire();
    const previous = connection;
    // The connection may have closed already.
    connection = cachedIn === 'slot' && !opened.isRetired ? opened : undefined;
    void previous?.retire();
  }

  function startPending(task: SlotTask): PendingConnection {
    try {
      registry.assertNotShutDown();
      task.beforeOpen?.();
    } catch (error) {
      notifyIfEmpty();
      throw error;
    }
    const abort = new AbortController();
    const waiters = new Set<Waiter>();
    let isAbandoned = false;

    const rejectAll = (error: unknown) => {
      for (const waiter of waiters) waiter.reject(error);
      waiters.clear();
    };
    const cancel = (error: Error) => {
      abort.abort(error);
      rejectAll(error);
    };
    const cancelIfUnused = () => {
      if (isAbandoned && waiters.size === 0) cancel(new Error('No caller is waiting for this connection'));
    };

    async function run(): Promise<void> {
      try {
        // The async function turns a synchronous throw into a rejection, after the first caller has joined.
        const upstream = await (async () => task.open(abort.signal))();
        if (abort.signal.aborted) {
          registry.discard(upstream);
          return;
        }
        const adopted = task.adopt(upstream, onRetired);
        for (const waiter of waiters) {
          adopted.connection.borrow();
          waiter.resolve(adopted.connection);
        }
        keepOrRetire(adopted);
      } catch (error) {
        rejectAll(error);
      } finally {
        waiters.clear();
        stopTracking();
        pending = undefined;
        task.onSettled?.();
        notifyIfEmpty();
      }
    }

    const settled = run();
    const stopTracking = registry.trackPending({ settled, cancel });
    pending = {
      settled,
      join: (signal) =>
        new Promise((resolve, reject) => {
          if (abort.signal.aborted) return reject(abortReason(abort.signal));
          if (signal.aborted) return reject(abortReason(signal));
          const onAbort = () => {
            waiters.delete(waiter);
            reject(abortReason(signal));
            cancelIfUnused();
          };
          const waiter: Waiter = {
            resolve(opened) {
              signal.removeEventListener('abort', onAbort);
              resolve(opened);
            },
            reject(error) {
              signal.removeEventListener('abort', onAbort);
              // Callers depend on the original error.
              // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
              reject(error);
            },
          };
          signal.addEventListener('abort', onAbort, { once: true });
          waiters.add(waiter);
        }),
      abandon() {
        isAbandoned = true;
        cancelIfUnused();
      },
    };
    return pending;
  }

  /**
   * Replacements run one at a time and never beside ordinary opening. All of them wait for the same `settled` promise
   * and wake in the order of arrival: the first starts, the others wait again.
   */
  async function replace(task: SlotTask, signal: Cancellation): Promise<Connection> {
    queuedReplacements += 1;
    try {
      while (pending) await rejectOnAbort(pending.settled, signal);
      return await startPending(task).join(signal);
    } finally {
      queuedReplacements -= 1;
      notifyIfEmpty();
    }
  }

  return {
    get connection() {
      return connection;
    },
    get isOpening() {
      return pending !== undefined;
    },
    /** Resolves with a connection that counts this caller as a borrower. */
    lease(task: SlotTask, signal: Cancellation, forceNew: boolean): Promise<Connection> {
      if (forceNew) return replace(task, signal);
      if (connection) {
        connection.borrow();
        return Promise.resolve(connection);
      }
      return (pending ?? startPending(task)).join(signal);
    },
    /** Resolves when the opening in progress has ended. */
    whenSettled: () => pending?.settled ?? Promise.resolve(),
    /** Serves current borrowers and waiting callers, then closes. */
    retire(): Promise<void> {
      isRetired = true;
      pending?.abandon();
      return connection?.retire() ?? Promise.resolve();
    },
  };
}
