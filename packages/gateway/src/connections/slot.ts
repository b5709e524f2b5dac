import { type Cancellation, type Clock, abortReason, rejectOnAbort, withTimeout } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { CloseTracker, Connection } from './connection.ts';

export interface AdoptResult {
  readonly connection: Connection;
  /** `slot`: this slot caches it. `stateless_pool`: the pool of stateless connections does. `none`: only the waiting callers use it. */
  readonly cachedIn: 'slot' | 'stateless_pool' | 'none';
}

/** How one caller would open the connection. */
export interface SlotTask {
  /** Runs before anything is opened; throws when there is no room. */
  beforeOpen?(): void;
  open(signal: AbortSignal): Promise<Upstream>;
  adopt(upstream: Upstream, onRetired: (connection: Connection) => void): AdoptResult;
  onSettled?(): void;
}

/** The place of one connection: what is there, what is being opened, and who waits to replace it. */
export interface Slot {
  readonly connection: Connection | undefined;
  readonly isOpening: boolean;
  /** Resolves with a connection that counts this caller among its borrowers. */
  lease(task: SlotTask, signal: Cancellation, forceNew: boolean): Promise<Connection>;
  /** Resolves when the opening under way has ended. */
  whenSettled(): Promise<void>;
  /** Gives up the place: borrowers and those who wait are served, then everything closes. */
  retire(): Promise<void>;
}

export interface SlotParts {
  readonly pendingConnections: PendingConnections;
  readonly closeTracker: CloseTracker;
  /** Nothing is here, nothing will come. */
  readonly onEmpty: () => void;
}

export function createSlot({ pendingConnections, closeTracker, onEmpty }: SlotParts): Slot {
  let connection: Connection | undefined;
  let pending: PendingConnection | undefined;
  let isRetired = false;
  /** Who will replace what is here. */
  let queuedReplacements = 0;

  const notifyIfEmpty = () => {
    if (!connection && !pending && queuedReplacements === 0) onEmpty();
  };
  const onRetired = (retiredConnection: Connection) => {
    if (connection !== retiredConnection) return;
    connection = undefined;
    notifyIfEmpty();
  };

  function startPending(task: SlotTask): PendingConnection {
    try {
      task.beforeOpen?.();
    } catch (error) {
      notifyIfEmpty();
      throw error;
    }
    let cachedIn: AdoptResult['cachedIn'] = 'slot';
    pending = pendingConnections.start({
      open: (signal) => task.open(signal),
      adopt(upstream) {
        const adopted = task.adopt(upstream, onRetired);
        cachedIn = adopted.cachedIn;
        return adopted.connection;
      },
      onDelivered(opened) {
        if (cachedIn === 'none' || (cachedIn === 'slot' && isRetired)) return void opened.retire();
        // Made for one request, and all who asked for it have left.
        if (opened.isSingleUse && opened.borrowerCount === 0) return void opened.retire();
        const previous = connection;
        // It may have ended at once; then it is not there to be found.
        connection = cachedIn === 'slot' && !opened.isRetired ? opened : undefined;
        void previous?.retire();
      },
      discard: (upstream) => void closeTracker.close(upstream),
      onSettled() {
        pending = undefined;
        task.onSettled?.();
        notifyIfEmpty();
      },
    });
    return pending;
  }

  /**
   * One at a time, and never beside an ordinary opening. All wait for the same opening and wake in the order in which
   * they came: the first begins, the others wait again. So the last word is the last asker's.
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
    lease(task, signal, forceNew) {
      if (forceNew) return replace(task, signal);
      if (connection) {
        connection.borrow();
        return Promise.resolve(connection);
      }
      return (pending ?? startPending(task)).join(signal);
    },
    whenSettled: () => pending?.settled ?? Promise.resolve(),
    retire() {
      isRetired = true;
      pending?.abandon();
      return connection?.retire() ?? Promise.resolve();
    },
  };
}

interface PendingConnectionTask {
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
interface PendingConnection {
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

function startPendingConnection(task: PendingConnectionTask): PendingConnection {
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

/** Everything that is being opened, so that a shutdown leaves nothing half-open behind. */
export interface PendingConnections {
  /** Throws after a shutdown. */
  start(task: PendingConnectionTask): PendingConnection;
  /** Throws after a shutdown: nothing is opened any more that nobody would close. */
  assertNotClosed(): void;
  /** Stops what is under way and waits until it has stopped, at most this long. */
  close(timeoutMs: number): Promise<void>;
}

export function createPendingConnections(clock: Clock): PendingConnections {
  const inProgress = new Set<PendingConnection>();
  let isClosed = false;
  const createShutdownError = () =>
    new UpstreamError('ended', { cause: new Error('The gateway is shutting down') });
  const assertNotClosed = () => {
    if (isClosed) throw createShutdownError();
  };

  return {
    assertNotClosed,
    start(task) {
      assertNotClosed();
      const pending = startPendingConnection({
        ...task,
        onSettled() {
          inProgress.delete(pending);
          task.onSettled();
        },
      });
      inProgress.add(pending);
      return pending;
    },
    async close(timeoutMs) {
      isClosed = true;
      const settled = [...inProgress].map((pending) => {
        pending.cancel(createShutdownError());
        return pending.settled;
      });
      await withTimeout(clock, timeoutMs, Promise.all(settled), () => undefined);
    },
  };
}
