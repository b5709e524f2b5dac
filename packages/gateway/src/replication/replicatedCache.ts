import { type Clock, LruMap } from '@behalf/kernel';
import { type ChangeEvent, type ChangeFeed, MAX_STALENESS_MS, isCurrent } from '../ports/index.ts';

/**
 * A cache of store reads that change notices invalidate. Invariants:
 * - A value is at most `MAX_STALENESS_MS` old while the change feed is in sync with the store (`isCurrent`).
 * - A notice that arrives during a read invalidates the read: the callers that wait for it receive its result, but the
 *   cache does not keep it, and later callers start a new read.
 * - If the store is unreachable, a value that no notice invalidated remains usable for `maxStaleMs` after the feed was
 *   last in sync. The default is zero: reads fail.
 */
export interface ReplicatedCache<V> {
  /** The value, if it is current. No I/O. */
  get(key: string): V | undefined;
  /** The value, if it is current or within the outage window. No I/O. */
  getStale(key: string): V | undefined;
  /** Whether an entry exists, current or not. */
  has(key: string): boolean;
  /**
   * The current value, without I/O if the cache has it. Concurrent callers share one `load`. `previous` is the last
   * known value, which may be invalid. If `load` fails, the value within the outage window is returned instead.
   */
  read(key: string, load: (previous: V | undefined) => Promise<V>): V | Promise<V>;
  /**
   * Loads and caches the value even if the cache has a current one. Does not join a load that already started. Rejects
   * if `load` fails: the caller needs the state of the store.
   */
  reload(key: string, load: (previous: V | undefined) => Promise<V>): Promise<V>;
  /** Records a value that this process just wrote. A load that started earlier does not overwrite it. */
  set(key: string, value: V): void;
  /** Applies a change that the feed has not delivered. */
  invalidate(change: ChangeEvent): void;
  clear(): void;
  /** Unsubscribes from the change feed and drops all entries. */
  close(): void;
}

/** The entries that a change affects: one key, all entries, or those that match a predicate. Undefined: none. */
export type Invalidation<V> =
  undefined | 'all' | { readonly key: string } | { readonly where: (value: V, key: string) => boolean };

export interface ReplicatedCacheOptions<V> {
  readonly changes: Pick<ChangeFeed, 'subscribe' | 'syncedUntil'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly maxEntries: number;
  readonly affectedBy: (change: ChangeEvent) => Invalidation<V>;
  /** How long values remain usable while the store is unreachable. Default 0. */
  readonly maxStaleMs?: number;
  /** Whether `read` returns the value within the outage window if the load fails. Otherwise only `getStale` does. Default true. */
  readonly readsStale?: boolean;
  /** Rejects values for other reasons than age, such as their own expiry. A rejected value is not cached. */
  readonly isUsable?: (value: V, readAt: number) => boolean;
  /** Keeps invalidated values for `has` and as the `previous` of the next load. By default they are dropped. */
  readonly keepInvalidated?: boolean;
}

interface Entry<V> {
  readonly value: V;
  /** When the read that returned the value started. */
  readonly readAt: number;
  /** The order in which reads and writes started. */
  readonly sequence: number;
  isInvalidated: boolean;
}

interface Load<V> {
  readonly key: string;
  readonly startedAt: number;
  readonly sequence: number;
  isInvalidated: boolean;
  promise?: Promise<V>;
}

export function createReplicatedCache<V>(options: ReplicatedCacheOptions<V>): ReplicatedCache<V> {
  const { changes, clock, maxEntries, affectedBy, maxStaleMs = 0, keepInvalidated = false } = options;
  const { readsStale = true, isUsable = () => true } = options;
  const entries = new LruMap<string, Entry<V>>(maxEntries);
  /** Loads that new callers of `read` may join. */
  const joinable = new Map<string, Load<V>>();
  const loads = new Set<Load<V>>();
  let lastSequence = 0;

  function invalidate(change: ChangeEvent): void {
    const affected = affectedBy(change);
    if (affected === undefined) return;
    // The value of a load is not known yet, so a predicate invalidates every load.
    const affectedKey = affected !== 'all' && 'key' in affected ? affected.key : undefined;
    for (const load of loads)
      if (affectedKey === undefined || load.key === affectedKey) load.isInvalidated = true;
    for (const [key, entry] of findAffected(affected)) {
      if (keepInvalidated) entry.isInvalidated = true;
      else entries.delete(key);
    }
  }

  function findAffected(affected: NonNullable<Invalidation<V>>): [string, Entry<V>][] {
    if (affected === 'all') return [...entries];
    if ('where' in affected) return [...entries].filter(([key, { value }]) => affected.where(value, key));
    const entry = entries.peek(affected.key);
    return entry ? [[affected.key, entry]] : [];
  }

  function get(key: string): V | undefined {
    const entry = entries.get(key);
    if (!entry || entry.isInvalidated || !isCurrent(changes, clock.now(), entry.readAt)) return undefined;
    return isUsable(entry.value, entry.readAt) ? entry.value : undefined;
  }

  function getStale(key: string): V | undefined {
    const entry = entries.get(key);
    if (!entry || entry.isInvalidated) return undefined;
    const now = clock.now();
    const verifiedAt = Math.max(entry.readAt, changes.syncedUntil());
    if (!isCurrent(changes, now, entry.readAt) && now - verifiedAt >= maxStaleMs) return undefined;
    return isUsable(entry.value, entry.readAt) ? entry.value : undefined;
  }

  function store(load: Omit<Load<V>, 'promise'>, value: V): void {
    const { key, startedAt, sequence, isInvalidated } = load;
    const existing = entries.peek(key);
    if (existing && existing.sequence > sequence) return;
    if (isInvalidated && !keepInvalidated) return;
    if (isUsable(value, startedAt)) entries.set(key, { value, readAt: startedAt, sequence, isInvalidated });
    else entries.delete(key);
  }

  async function runLoad(
    load: Load<V>,
    work: (previous: V | undefined) => Promise<V>,
    acceptsStale: boolean,
  ): Promise<V> {
    try {
      const value = await work(entries.peek(load.key)?.value);
      store(load, value);
      return value;
    } catch (error) {
      const stale = acceptsStale && !load.isInvalidated ? getStale(load.key) : undefined;
      if (stale !== undefined) return stale;
      throw error;
    } finally {
      loads.delete(load);
      if (joinable.get(load.key) === load) joinable.delete(load.key);
    }
  }

  function startLoad(
    key: string,
    work: (previous: V | undefined) => Promise<V>,
    acceptsStale: boolean,
  ): Load<V> & { promise: Promise<V> } {
    const load: Load<V> = createRead(key);
    loads.add(load);
    return Object.assign(load, { promise: runLoad(load, work, acceptsStale) });
  }

  function createRead(key: string): Omit<Load<V>, 'promise'> {
    lastSequence += 1;
    return { key, startedAt: clock.now(), sequence: lastSequence, isInvalidated: false };
  }

  function clear(): void {
    for (const load of loads) load.isInvalidated = true;
    entries.clear();
  }

  const unsubscribe = changes.subscribe(invalidate);

  return {
    get,
    getStale,
    has: (key) => entries.has(key),
    read(key, work) {
      const cached = get(key);
      if (cached !== undefined) return cached;
      const pending = joinable.get(key);
      // The result of an older load may already be too old when it arrives.
      const isRecent = pending !== undefined && clock.now() - pending.startedAt < MAX_STALENESS_MS;
      if (pending?.promise && !pending.isInvalidated && isRecent) return pending.promise;
      const load = startLoad(key, work, readsStale);
      if (loads.has(load)) joinable.set(key, load);
      return load.promise;
    },
    reload: (key, work) => startLoad(key, work, false).promise,
    set(key, value) {
      store(createRead(key), value);
    },
    invalidate,
    clear,
    close() {
      unsubscribe();
      clear();
    },
  };
}
