import type { Clock } from '@behalf/kernel';
import type { Upstream } from '../upstream/upstream.ts';
import type { Closings } from './closings.ts';

/** An open conversation and the count of those who use it. */
export interface Connection {
  readonly upstream: Upstream;
  readonly borrowers: number;
  /** It gets no new borrowers. */
  readonly retired: boolean;
  /** It serves one request: it is over when nobody uses it. */
  readonly once: boolean;
  /** When it was used last. */
  readonly usedAt: number;
  /** Before or after which other: several uses fit into a millisecond. */
  readonly usedOrder: number;
  borrow(): void;
  giveBack(): void;
  /** Closes it after its last borrower. Resolves when that is done, at once while somebody still uses it. */
  retire(): Promise<void>;
  /** Runs once, when it gets no new borrowers; at once when that is so. Returns how not to be told. */
  readonly whenRetired: (listener: () => void) => () => void;
  /** Closes it now, whoever uses it. */
  close(): Promise<void>;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly closings: Closings;
  /** Counts the uses of all connections. */
  readonly nextOrder: () => number;
  /** Runs once: nobody may find it any more. */
  readonly onRetired: (connection: Connection) => void;
  /** Runs once: it takes no place any more. */
  readonly onClosed?: ((connection: Connection) => void) | undefined;
  readonly once?: boolean | undefined;
}

export function createConnection(upstream: Upstream, parts: ConnectionParts): Connection {
  const { clock, closings, nextOrder, once = false } = parts;
  let borrowers = 0;
  let retired = false;
  /** Few have any: thousands of connections lie idle. */
  let watchers: Set<() => void> | undefined;
  let closing = false;
  let closed: Promise<void> = Promise.resolve();
  let usedAt = clock.now();
  let usedOrder = nextOrder();

  const hide = () => {
    if (retired) return;
    retired = true;
    parts.onRetired(connection);
    for (const tell of watchers ?? []) tell();
    watchers = undefined;
  };
  const connection: Connection = {
    upstream,
    once,
    get borrowers() {
      return borrowers;
    },
    get retired() {
      return retired;
    },
    get usedAt() {
      return usedAt;
    },
    get usedOrder() {
      return usedOrder;
    },
    borrow() {
      borrowers += 1;
      usedOrder = nextOrder();
    },
    giveBack() {
      borrowers -= 1;
      usedAt = clock.now();
      usedOrder = nextOrder();
      if (borrowers === 0 && (retired || once)) void connection.retire();
    },
    whenRetired(listener) {
      if (retired) listener();
      else (watchers ??= new Set()).add(listener);
      return () => void watchers?.delete(listener);
    },
    retire() {
      hide();
      return borrowers === 0 ? connection.close() : Promise.resolve();
    },
    close() {
      hide();
      if (!closing) {
        // First of all: the upstream may say that it closed while it is told to.
        closing = true;
        parts.onClosed?.(connection);
        closed = closings.close(upstream);
      }
      return closed;
    },
  };
  // An ended conversation is closed as well, after its borrowers: some of them may still wait for an answer on it.
  upstream.onClose(() => void connection.retire());
  return connection;
}
