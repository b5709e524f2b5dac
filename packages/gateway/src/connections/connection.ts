import type { Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { CloseTracker } from './closeTracker.ts';

/** An open conversation and the count of those who use it. */
export interface Connection {
  readonly upstream: Upstream;
  readonly borrowerCount: number;
  /** It gets no new borrowers. */
  readonly isRetired: boolean;
  /** It serves one request: it is over when nobody uses it. */
  readonly isSingleUse: boolean;
  /** When it was used last. */
  readonly lastUsedAt: number;
  /** Before or after which other: several uses fit into a millisecond. */
  readonly lastUsedOrder: number;
  borrow(): void;
  release(): void;
  /** Closes it after its last borrower. Resolves when that is done, at once while somebody still uses it. */
  retire(): Promise<void>;
  /** Runs once, when it gets no new borrowers; at once when that is so. Returns how not to be told. */
  readonly onRetire: (listener: () => void) => () => void;
  /** Closes it now, whoever uses it. */
  close(): Promise<void>;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly closeTracker: CloseTracker;
  /** Counts the uses of all connections. */
  readonly nextOrder: () => number;
  /** Runs once: nobody may find it any more. */
  readonly onRetired: (connection: Connection) => void;
  /** Runs once: it takes no place any more. */
  readonly onClosed?: ((connection: Connection) => void) | undefined;
  readonly isSingleUse?: boolean | undefined;
}

export function createConnection(upstream: Upstream, parts: ConnectionParts): Connection {
  const { clock, closeTracker, nextOrder, isSingleUse = false } = parts;
  let borrowerCount = 0;
  let isRetired = false;
  /** Few have any: thousands of connections lie idle. */
  let retireListeners: Set<() => void> | undefined;
  let isClosing = false;
  let closed: Promise<void> = Promise.resolve();
  let lastUsedAt = clock.now();
  let lastUsedOrder = nextOrder();

  const markRetired = () => {
    if (isRetired) return;
    isRetired = true;
    parts.onRetired(connection);
    for (const notify of retireListeners ?? []) notify();
    retireListeners = undefined;
  };
  const connection: Connection = {
    upstream,
    isSingleUse,
    get borrowerCount() {
      return borrowerCount;
    },
    get isRetired() {
      return isRetired;
    },
    get lastUsedAt() {
      return lastUsedAt;
    },
    get lastUsedOrder() {
      return lastUsedOrder;
    },
    borrow() {
      borrowerCount += 1;
      lastUsedOrder = nextOrder();
    },
    release() {
      borrowerCount -= 1;
      lastUsedAt = clock.now();
      lastUsedOrder = nextOrder();
      if (borrowerCount === 0 && (isRetired || isSingleUse)) void connection.retire();
    },
    onRetire(listener) {
      if (isRetired) listener();
      else (retireListeners ??= new Set()).add(listener);
      return () => void retireListeners?.delete(listener);
    },
    retire() {
      markRetired();
      return borrowerCount === 0 ? connection.close() : Promise.resolve();
    },
    close() {
      markRetired();
      if (!isClosing) {
        // First of all: the upstream may say that it closed while it is told to.
        isClosing = true;
        parts.onClosed?.(connection);
        closed = closeTracker.close(upstream);
      }
      return closed;
    },
  };
  // An ended conversation is closed as well, after its borrowers: some of them may still wait for an answer on it.
  upstream.onClose(() => void connection.retire());
  return connection;
}
