import { rejectOnAbort, type Cancellation } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { CloseTracker } from './closeTracker.ts';
import type { Connection } from './connection.ts';
import type { PendingConnection } from './pendingConnection.ts';
import type { PendingConnections } from './pendingConnections.ts';

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
