import { parseUrl } from '@behalf/contracts';
import { type Clock, type Random, sleep, withTimeout } from '@behalf/kernel';
import type { OpenOptions, RemoteTarget, UpstreamTarget } from '../upstream/target.ts';
import type { ServerClaims, Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { BreakerGuard } from './breakers.ts';
import type { ConnectionRequest } from './lease.ts';

/*
 * The life cycle of connections: open with one retry, count borrowers, retire, close.
 *
 * - A retired connection gets no new borrowers and closes after its last borrower. Only shutdown closes it earlier.
 * - The registry knows every upstream that is opening, open or closing, so that shutdown leaves no session, socket or
 *   child process behind.
 */

/** An open upstream and the number of its borrowers. */
export interface Connection {
  readonly upstream: Upstream;
  readonly borrowerCount: number;
  /** A retired connection gets no new borrowers. */
  readonly isRetired: boolean;
  /** The connection serves one request and retires when its last borrower releases it. */
  readonly isSingleUse: boolean;
  readonly lastUsedAt: number;
  /** Order of use among all connections. Several uses can fall into one millisecond. */
  readonly lastUsedOrder: number;
  borrow(): void;
  release(): void;
  /** Stops lending. Closes now, or after the last borrower; resolves when closed, or at once if borrowers remain. */
  retire(): Promise<void>;
  /** Calls the listener once on retirement, at once if already retired. Returns a function that removes it. */
  readonly onRetire: (listener: () => void) => () => void;
  /** Closes at once, regardless of borrowers. */
  close(): Promise<void>;
}

interface ConnectionHooks {
  /** Called once on retirement. The pool must stop lending the connection. */
  readonly onRetired: (connection: Connection) => void;
  /** Called once on close. The connection no longer counts towards a limit. */
  readonly onClosed?: () => void;
  readonly isSingleUse?: boolean;
}

/** An upstream that is being opened. */
interface PendingUpstream {
  /** Resolves when opening has ended, whatever its outcome. */
  readonly settled: Promise<void>;
  /** Stops opening and fails all waiting callers with this error. */
  cancel(error: Error): void;
}

export type ConnectionRegistry = ReturnType<typeof createConnectionRegistry>;

export function createConnectionRegistry(clock: Clock, closeTimeoutMs: number) {
  const pending = new Set<PendingUpstream>();
  const open = new Set<Connection>();
  const closing = new Set<Promise<void>>();
  let lastOrder = 0;
  let isShutDown = false;
  const nextOrder = () => (lastOrder += 1);
  const createShutdownError = () =>
    new UpstreamError('ended', { cause: new Error('The gateway is shutting down') });

  /** Never rejects, and resolves within `closeTimeoutMs`. */
  function closeUpstream(upstream: Upstream): Promise<void> {
    // The async function turns a synchronous throw of `close` into a rejection.
    const closed = (async () => upstream.close())().catch(() => undefined);
    const done: Promise<void> = withTimeout(clock, closeTimeoutMs, closed, () => undefined).finally(() =>
      closing.delete(done),
    );
    closing.add(done);
    return done;
  }

  function createConnection(
    upstream: Upstream,
    { onRetired, onClosed, isSingleUse = false }: ConnectionHooks,
  ): Connection {
    let borrowerCount = 0;
    let isRetired = false;
    // Created on demand, because thousands of idle connections have no listener.
    let retireListeners: Set<() => void> | undefined;
    let closed: Promise<void> | undefined;
    let lastUsedAt = clock.now();
    let lastUsedOrder = nextOrder();

    const markRetired = () => {
      if (isRetired) return;
      isRetired = true;
      onRetired(connection);
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
        if (closed) return closed;
        // Set before the upstream closes, because its `onClose` may call `retire` synchronously.
        closed = Promise.resolve();
        open.delete(connection);
        onClosed?.();
        return (closed = closeUpstream(upstream));
      },
    };
    // When the upstream closes by itself, its borrowers may still wait for responses: retire, do not close.
    upstream.onClose(() => void connection.retire());
    return connection;
  }

  return {
    add(upstream: Upstream, hooks: ConnectionHooks): Connection {
      const connection = createConnection(upstream, hooks);
      // If the upstream closed before it was added, the connection is closed already.
      if (!connection.isRetired) open.add(connection);
      return connection;
    },
    /** Closes an upstream that no connection uses. */
    discard: (upstream: Upstream) => void closeUpstream(upstream),
    /** Tracks an upstream that is being opened. Returns a function that stops tracking it. */
    trackPending(upstream: PendingUpstream): () => void {
      pending.add(upstream);
      return () => void pending.delete(upstream);
    },
    /** Throws after `close`, so that nothing opens that shutdown would miss. */
    assertNotShutDown(): void {
      if (isShutDown) throw createShutdownError();
    },
    /** Closes everything: cancels opening, closes connections in use, and waits for each at most `closeTimeoutMs`. */
    async close(): Promise<void> {
      isShutDown = true;
      const settled = [...pending].map((upstream) => {
        upstream.cancel(createShutdownError());
        return upstream.settled;
      });
      for (const connection of open) void connection.close();
      await withTimeout(clock, closeTimeoutMs, Promise.all(settled), () => undefined);
      while (closing.size > 0) await Promise.all(closing);
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
 * Whether a connection to this target can be free of user data. A child process received its user's values at start,
 * and a WebSocket or SSE stream was opened with its user's headers, whatever era the server reports.
 */
export function canBeStateless(target: UpstreamTarget): target is RemoteTarget {
  return target.type === 'streamable-http';
}

/** Whether the connection carries no user data: every request presents its own credential. */
export function isStateless(target: UpstreamTarget, claims: ServerClaims): boolean {
  return canBeStateless(target) && claims.era === 'modern';
}

export type OpenConnection = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

const MAX_CONNECT_ATTEMPTS = 2;
const MIN_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 1_000;

/** Opens one connection and records the result once, not once per waiting caller. */
export type OpenAndRecord = (request: ConnectionRequest, signal: AbortSignal) => Promise<Upstream>;

export function createOpenAndRecord(parts: {
  readonly open: OpenConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly breakerGuard: BreakerGuard;
}): OpenAndRecord {
  const { open, clock, random, breakerGuard } = parts;

  /** Retries once if the server was unreachable, as during a restart. Both attempts share one time limit. */
  async function openWithRetry(target: UpstreamTarget, options: OpenOptions): Promise<Upstream> {
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
  }

  return async (request, signal) => {
    const { server, target, holder } = request;
    try {
      // A user-supplied value can make the URL invalid.
      if (target.type !== 'stdio' && !parseUrl(target.url)) throw new UpstreamError('not_allowed');
      const upstream = await openWithRetry(target, {
        server: server.name,
        owner: holder?.principal,
        era: server.settings.era,
        relay: server.settings.relay,
        // The server's limit, not the caller's: several callers wait for this connection and the breakers see its result.
        initTimeoutMs: server.settings.initTimeout,
        signal,
      });
      breakerGuard.recordResult(request, 'opening', undefined);
      return upstream;
    } catch (error) {
      // If the gateway itself canceled opening, the failure says nothing about the server.
      if (error instanceof UpstreamError && !signal.aborted)
        breakerGuard.recordResult(request, 'opening', error);
      throw error;
    }
  };
}

function isRetryable(error: unknown): boolean {
  return error instanceof UpstreamError && (error.reason === 'connect_failed' || error.reason === 'ended');
}
