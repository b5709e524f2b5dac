import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '@behalf/kernel';
import { Pool } from 'undici';
import type { Connect, ConnectOptions } from './connect.ts';
import type { Destination } from './destination.ts';
import { EgressError } from './errors.ts';

/** The kept connections to one origin under one policy. */
export interface PoolEntry {
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
  borrow(scope: PoolScope, to: Destination): PoolEntry;
  release(entry: PoolEntry): void;
  readonly size: number;
  /** Lets requests in the air finish for at most `graceMs`, then closes every socket. */
  close(graceMs: number): Promise<void>;
}

interface Kept extends PoolEntry {
  readonly key: string;
  borrowed: number;
  sockets: number;
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
export function createPools(parts: { connect: Connect; clock: Clock }): Pools {
  const { connect, clock } = parts;
  const kept = new Map<string, Kept>();
  const leaving = new Set<Pool>();
  const dials = new AbortController();
  // Every dial in progress listens: many of them are load, not a leak.
  setMaxListeners(0, dials.signal);
  let newest: Kept | undefined;
  let sweep: Cancel | undefined;
  let closed = false;

  function open(scope: PoolScope, { origin }: Destination, key: string): Kept {
    const url = new URL(origin);
    const pool = new Pool(origin, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Our own clock measures these, for every phase and with an error of ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        connect(url, scope, dials.signal).then(
          (socket) => {
            entry.sockets += 1;
            socket.once('close', () => (entry.sockets -= 1));
            // The client wants a net.Socket and uses what every Duplex has.
            callback(null, socket as never);
          },
          (error: unknown) => callback(error as Error, null),
        );
      },
    });
    const entry: Kept = { pool, origin, key, borrowed: 0, sockets: 0, idleSince: clock.now() };
    return entry;
  }

  function drop(entry: Kept): void {
    if (kept.get(entry.key) === entry) kept.delete(entry.key);
    if (newest === entry) newest = undefined;
    leaving.add(entry.pool);
    void entry.pool
      .close()
      .catch(() => undefined)
      .then(() => leaving.delete(entry.pool));
  }

  function sweepLater(): void {
    sweep ??= clock.timer(IDLE_MS, () => {
      sweep = undefined;
      const oldest = clock.now() - IDLE_MS;
      for (const entry of kept.values()) if (entry.borrowed === 0 && entry.idleSince <= oldest) drop(entry);
      if (kept.size > 0) sweepLater();
    });
  }

  return {
    borrow(scope, to) {
      if (closed) throw new EgressError('closed', to.host);
      const key = to.poolKey(scope);
      let entry = kept.get(key);
      // Moving an entry costs a table every few times, and almost every request repeats the one before.
      if (!entry || entry !== newest) {
        if (entry) kept.delete(key);
        else {
          entry = open(scope, to, key);
          const [leastRecent] = kept.values();
          // Closing is graceful: what the evicted pool still carries may finish.
          if (kept.size >= MAX_POOLS && leastRecent) drop(leastRecent);
        }
        kept.set(key, entry);
        newest = entry;
      }
      entry.borrowed += 1;
      sweepLater();
      return entry;
    },
    release(lent) {
      const entry = lent as Kept;
      entry.borrowed -= 1;
      entry.idleSince = clock.now();
      // Nothing was ever connected: keeping it would let refused URLs push warm pools out.
      if (entry.borrowed === 0 && entry.sockets === 0) drop(entry);
    },
    get size() {
      return kept.size;
    },
    async close(graceMs) {
      closed = true;
      sweep?.();
      for (const entry of kept.values()) drop(entry);
      const hurry = clock.timer(graceMs, () => {
        dials.abort();
        for (const pool of leaving) void pool.destroy().catch(() => undefined);
      });
      await Promise.all([...leaving].map((pool) => pool.close().catch(() => undefined)));
      hurry();
      dials.abort();
    },
  };
}
