import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '@behalf/kernel';
import { Pool } from 'undici';
import type { GuardedConnect, ConnectOptions } from './guardedConnect.ts';
import type { Destination } from './target.ts';
import { EgressError } from './errors.ts';

/** The kept connections to one origin under one policy. */
interface PoolEntry {
  readonly pool: Pool;
  readonly origin: string;
}

/** What two requests must have in common to share sockets. */
export interface PoolScope extends ConnectOptions {
  /** A tuple as JSON of everything that the verdict on a socket depended on. */
  readonly key: string;
}

export interface Pools {
  /** The pool of a scope and origin, for one request; hand it back with `release`. */
  acquire(scope: PoolScope, destination: Destination): PoolEntry;
  release(entry: PoolEntry): void;
  readonly size: number;
  /** Lets requests in the air finish for at most `graceMs`, then closes every socket. */
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
 * A socket was judged when it was dialled, under the exemptions of one audience. Pools are therefore keyed by
 * audience, exemptions, proxy and authority as well as by origin: a user's server never rides on a socket that only the
 * operator's word had opened, and nobody on one that another authority vouched for.
 */
export function createPools(parts: { connect: GuardedConnect; clock: Clock }): Pools {
  const { connect, clock } = parts;
  const entries = new Map<string, PoolState>();
  const closingPools = new Set<Pool>();
  const dialController = new AbortController();
  // Every dial in progress listens: many of them are load, not a leak.
  setMaxListeners(0, dialController.signal);
  let latest: PoolState | undefined;
  let cancelSweep: Cancel | undefined;
  let isClosed = false;

  function openPool(scope: PoolScope, { origin }: Destination, key: string): PoolState {
    const url = new URL(origin);
    const pool = new Pool(origin, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Our own clock measures these, for every phase and with an error of ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        connect(url, scope, dialController.signal).then(
          (socket) => {
            entry.socketCount += 1;
            socket.once('close', () => (entry.socketCount -= 1));
            // The client wants a net.Socket and uses what every Duplex has.
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
      // Moving an entry costs a table every few times, and almost every request repeats the one before.
      if (!entry || entry !== latest) {
        if (entry) entries.delete(key);
        else {
          entry = openPool(scope, destination, key);
          const [leastRecent] = entries.values();
          // Closing is graceful: what the evicted pool still carries may finish.
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
      // Nothing was ever connected: keeping it would let refused URLs push warm pools out.
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
