import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '@behalf/kernel';
import { Pool } from 'undici';
import type { GuardedConnect, ConnectOptions } from './guardedConnect.ts';
import type { Destination } from './target.ts';
import { EgressError } from './errors.ts';

/** The open connections to one origin within one scope. */
interface PoolEntry {
  readonly pool: Pool;
  readonly origin: string;
}

/** Requests share sockets only if they have the same scope. */
export interface PoolScope extends ConnectOptions {
  /** A JSON tuple of everything that the target check of a socket depended on. */
  readonly key: string;
}

export interface Pools {
  /** Returns the pool of a scope and origin for one request. Call `release` afterwards. */
  acquire(scope: PoolScope, destination: Destination): PoolEntry;
  release(entry: PoolEntry): void;
  readonly size: number;
  /** Waits up to `graceMs` for requests in progress, then closes all sockets. */
  close(graceMs: number): Promise<void>;
}

interface PoolState extends PoolEntry {
  readonly key: string;
  useCount: number;
  socketCount: number;
  idleSince: number;
}

const MAX_POOLS = 512;
const IDLE_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * The target check runs when a socket is opened, with the exemptions of one audience. Pools are therefore keyed by
 * audience, exemptions, proxy and certificate authority as well as by origin. A user-defined server never shares a
 * socket that only an operator's exemption allowed, and no request uses a socket that another certificate authority
 * verified.
 */
export function createPools(parts: { connect: GuardedConnect; clock: Clock }): Pools {
  const { connect, clock } = parts;
  const entries = new Map<string, PoolState>();
  const closingPools = new Set<Pool>();
  const dialController = new AbortController();
  // Each connection attempt adds a listener. Many listeners mean load, not a leak.
  setMaxListeners(0, dialController.signal);
  let latest: PoolState | undefined;
  let cancelSweep: Cancel | undefined;
  let isClosed = false;

  function openPool(scope: PoolScope, { origin }: Destination, key: string): PoolState {
    const url = new URL(origin);
    const pool = new Pool(origin, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // HttpExchange measures all timeouts with the injected clock and reports them with its own error codes.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        connect(url, scope, dialController.signal).then(
          (socket) => {
            entry.socketCount += 1;
            socket.once('close', () => (entry.socketCount -= 1));
            // The type requires a net.Socket; the client uses only methods of Duplex.
            callback(null, socket as never);
          },
          (error: unknown) => callback(error as Error, null),
        );
      },
    });
    const entry: PoolState = { pool, origin, key, useCount: 0, socketCount: 0, idleSince: clock.now() };
    return entry;
  }

  function closePool(entry: PoolState): void {
    if (entries.get(entry.key) === entry) entries.delete(entry.key);
    if (latest === entry) latest = undefined;
    closingPools.add(entry.pool);
    void entry.pool
      .close()
      .catch(() => undefined)
      .then(() => closingPools.delete(entry.pool));
  }

  function scheduleSweep(): void {
    cancelSweep ??= clock.timer(IDLE_MS, () => {
      cancelSweep = undefined;
      const expiresBefore = clock.now() - IDLE_MS;
      for (const entry of entries.values())
        if (entry.useCount === 0 && entry.idleSince <= expiresBefore) closePool(entry);
      if (entries.size > 0) scheduleSweep();
    });
  }

  return {
    acquire(scope, destination) {
      if (isClosed) throw new EgressError('closed', destination.host);
      const key = destination.poolKey(scope);
      let entry = entries.get(key);
      // Almost every request uses the same pool as the previous one. This avoids moving the entry in the map each
      // time.
      if (!entry || entry !== latest) {
        if (entry) entries.delete(key);
        else {
          entry = openPool(scope, destination, key);
          const [leastRecent] = entries.values();
          // Closing is graceful: requests on the evicted pool can finish.
          if (entries.size >= MAX_POOLS && leastRecent) closePool(leastRecent);
        }
        entries.set(key, entry);
        latest = entry;
      }
      entry.useCount += 1;
      scheduleSweep();
      return entry;
    },
    release(released) {
      const entry = released as PoolState;
      entry.useCount -= 1;
      entry.idleSince = clock.now();
      // The pool never had a connection. Remove it, so that denied URLs do not evict pools in use.
      if (entry.useCount === 0 && entry.socketCount === 0) closePool(entry);
    },
    get size() {
      return entries.size;
    },
    async close(graceMs) {
      isClosed = true;
      cancelSweep?.();
      for (const entry of entries.values()) closePool(entry);
      const cancelForcedClose = clock.timer(graceMs, () => {
        dialController.abort();
        for (const pool of closingPools) void pool.destroy().catch(() => undefined);
      });
      await Promise.all([...closingPools].map((pool) => pool.close().catch(() => undefined)));
      cancelForcedClose();
      dialController.abort();
    },
  };
}
