import { parseUrl } from '@behalf/contracts';
import { type Clock, type Random, sleep, withTimeout } from '@behalf/kernel';
import type { OpenOptions, RemoteTarget, UpstreamTarget } from '../upstream/target.ts';
import type { ServerClaims, Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import {
  type BreakerGuard,
  type ConnectionFailures,
  type ConnectionRequest,
  toTransportSignal,
} from './breakerGuard.ts';
import { revisionKey } from './revisions.ts';

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

interface ConnectionParts {
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

function createConnection(upstream: Upstream, parts: ConnectionParts): Connection {
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

type ConnectionHooks = Pick<ConnectionParts, 'onRetired' | 'onClosed' | 'isSingleUse'>;

/** Every connection that is not closed, also those that are only waited out: a shutdown must find them all. */
export interface OpenConnections {
  add(upstream: Upstream, hooks: ConnectionHooks): Connection;
  closeAll(): void;
}

export function createOpenConnections(parts: { clock: Clock; closeTracker: CloseTracker }): OpenConnections {
  const openSet = new Set<Connection>();
  let order = 0;
  const nextOrder = () => (order += 1);

  return {
    add(upstream, { onClosed, ...hooks }) {
      const connection = createConnection(upstream, {
        ...parts,
        ...hooks,
        nextOrder,
        onClosed(closed) {
          openSet.delete(closed);
          onClosed?.(closed);
        },
      });
      // One that had ended before it came here is closed by now.
      if (!connection.isRetired) openSet.add(connection);
      return connection;
    },
    closeAll() {
      for (const connection of openSet) void connection.close();
    },
  };
}

/** Opens one connection and remembers how that went: once for the opening, not once for each who waited for it. */
export type OpenAndRecord = (request: ConnectionRequest, signal: AbortSignal) => Promise<Upstream>;

export function createOpenAndRecord(parts: {
  connect: OpenConnection;
  breakerGuard: BreakerGuard;
  failures: ConnectionFailures;
}): OpenAndRecord {
  const { connect, breakerGuard, failures } = parts;
  return async (request, signal) => {
    const { server, target, holder } = request;
    const key = revisionKey(server);
    const openOptions: OpenOptions = {
      server: server.name,
      owner: holder?.principal,
      era: server.settings.era,
      relay: server.settings.relay,
      // Never a caller's own limit: others wait for the same opening, and its end is told to the breakers.
      initTimeoutMs: server.settings.initTimeout,
      signal,
    };
    try {
      // A value that a user entered may have made it one. Nothing can be sent there.
      if (target.type !== 'stdio' && !parseUrl(target.url)) throw new UpstreamError('not_allowed');
      const upstream = await connect(target, openOptions);
      breakerGuard.recordResult(request, 'opening', undefined);
      failures.clear(key, holder?.principal);
      return upstream;
    } catch (error) {
      // Our own giving up says nothing of the server.
      if (error instanceof UpstreamError && !signal.aborted) {
        breakerGuard.recordResult(request, 'opening', error);
        failures.record(key, holder?.principal, error, toTransportSignal(error, 'opening') === 'bad');
      }
      throw error;
    }
  };
}

export type OpenConnection = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

const MAX_CONNECT_ATTEMPTS = 2;
const MIN_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 1_000;

/**
 * Opens a connection, with a second attempt when the first did not get through: a server that restarts is back in a
 * moment. Both share one time limit, so that a dead host costs no more than a slow one.
 */
export function createConnectWithRetry(parts: {
  open: OpenConnection;
  clock: Clock;
  random: Random;
}): OpenConnection {
  const { open, clock, random } = parts;
  return async (target, options) => {
    const deadline = clock.now() + options.initTimeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await open(target, { ...options, initTimeoutMs: deadline - clock.now() });
      } catch (error) {
        const delayMs = MIN_RETRY_DELAY_MS + random.uniform() * (MAX_RETRY_DELAY_MS - MIN_RETRY_DELAY_MS);
        if (attempt >= MAX_CONNECT_ATTEMPTS || !isRetryable(error) || clock.now() + delayMs >= deadline)
          throw error;
        await sleep(clock, delayMs, options.signal);
      }
    }
  };
}

function isRetryable(error: unknown): boolean {
  return error instanceof UpstreamError && (error.reason === 'connect_failed' || error.reason === 'ended');
}

/** Closes what was opened. Never fails, and never takes longer than its limit. */
export interface CloseTracker {
  close(upstream: Upstream): Promise<void>;
  /** Resolves when everything under way is closed. */
  waitForAll(): Promise<void>;
}

export function createCloseTracker(clock: Clock, timeoutMs: number): CloseTracker {
  const inProgress = new Set<Promise<void>>();

  return {
    close(upstream) {
      // Inside an async function, so that a close that throws at once is as harmless as one that rejects.
      const closing = (async () => upstream.close())().catch(() => undefined);
      const done: Promise<void> = withTimeout(clock, timeoutMs, closing, () => undefined).finally(() =>
        inProgress.delete(done),
      );
      inProgress.add(done);
      return done;
    },
    async waitForAll() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}

/** Room for one connection, from the moment its opening begins until it is closed. */
export interface ConnectionPermit {
  attach(connection: Connection): void;
  /** Idempotent. */
  release(): void;
}

/** How many connections users may have. */
interface ConnectionCapacity {
  /** Makes room by closing the least recently used idle one, never one in use; throws `too_many` when there is none. */
  acquire(principal: string): ConnectionPermit;
  readonly connectedCount: number;
}

interface Reservation {
  readonly principal: string;
  connection: Connection | undefined;
}

export function createConnectionCapacity(limits: {
  readonly maxPerPrincipal: number;
  readonly maxTotal: number;
}): ConnectionCapacity {
  const reservations = new Set<Reservation>();
  const byPrincipal = new Map<string, Set<Reservation>>();

  function evictIfFull(group: ReadonlySet<Reservation>, limit: number): void {
    if (group.size < limit) return;
    const oldest = findLeastRecentlyUsed([...group].map(({ connection }) => connection));
    if (!oldest) throw new UpstreamError('too_many');
    void oldest.retire();
  }

  return {
    acquire(principal) {
      evictIfFull(byPrincipal.get(principal) ?? new Set(), limits.maxPerPrincipal);
      evictIfFull(reservations, limits.maxTotal);
      const reservation: Reservation = { principal, connection: undefined };
      const principalReservations = byPrincipal.get(principal) ?? new Set();
      byPrincipal.set(principal, principalReservations.add(reservation));
      reservations.add(reservation);
      return {
        attach(connection) {
          reservation.connection = connection;
        },
        release() {
          reservations.delete(reservation);
          principalReservations.delete(reservation);
          // A later set may have taken its place after this one became empty.
          if (principalReservations.size === 0 && byPrincipal.get(principal) === principalReservations)
            byPrincipal.delete(principal);
        },
      };
    },
    get connectedCount() {
      let count = 0;
      for (const { connection } of reservations) if (connection) count += 1;
      return count;
    },
  };
}

export function findLeastRecentlyUsed(
  connections: readonly (Connection | undefined)[],
): Connection | undefined {
  let oldest: Connection | undefined;
  for (const connection of connections) {
    if (!connection || connection.borrowerCount > 0) continue;
    if (!oldest || connection.lastUsedOrder < oldest.lastUsedOrder) oldest = connection;
  }
  return oldest;
}

/**
 * Whether a conversation may hold nothing of the user who opened it. A child process got its user's values when it
 * started, and a websocket or an event stream was opened with its user's headers: those stay that user's, whatever the
 * server claims to be.
 */
export function canBeStateless(target: UpstreamTarget): target is RemoteTarget {
  return target.type === 'streamable-http';
}

/** Whether it holds nothing of them indeed: each request brings its own credential. */
export function isStateless(target: UpstreamTarget, claims: ServerClaims): boolean {
  return canBeStateless(target) && claims.era === 'modern';
}

/**
 * The conversation as all users may have it. What a server tells the one who came first, by way of instructions, may be
 * meant for that user or be made up by them: it is nobody else's.
 */
export function withoutInstructions(upstream: Upstream): Upstream {
  const { claims } = upstream;
  return claims.instructions === undefined
    ? upstream
    : { ...upstream, claims: { ...claims, instructions: undefined } };
}
