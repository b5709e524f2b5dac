import { type Clock, coalesce } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type ChangeTopic } from '../ports/index.ts';
import type { Log } from '../upstream/upstream.ts';

/**
 * A small value from the store that every call needs, such as the roles of all tenants. It is kept in memory and read
 * again after each change notice of its topic.
 */
export interface ReplicatedValue<T> {
  /**
   * The value, without I/O. At most `MAX_STALENESS_MS` old while the store answers. After `MAX_STALE_MS` without an
   * answer it is the fallback.
   */
  current(): T;
  /** Whether the value is at most `MAX_STALENESS_MS` old. Irreversible decisions, such as a token exchange, require this. */
  isFresh(): boolean;
  /** Reads the store now, for a caller that just changed it. Rejects if the store does not answer. */
  refresh(): Promise<void>;
  /** Resolves when the first read succeeds or fails. */
  readonly ready: Promise<void>;
  stop(): void;
}

interface ReplicatedValueParts<T> {
  readonly topic: ChangeTopic;
  readonly read: () => Promise<T>;
  /** Used while the store is unreachable. Must deny every request. */
  readonly fallback: T;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each read and when the fallback takes effect. */
  readonly onChange?: (value: T) => void;
}

const CHECK_INTERVAL_MS = 1_000;
/** How long the last known value remains usable while the store does not answer. */
const MAX_STALE_MS = 30_000;

export function createReplicatedValue<T>(parts: ReplicatedValueParts<T>): ReplicatedValue<T> {
  const { topic, read, fallback, changes, clock, log, onChange } = parts;
  let value = fallback;
  let isLoaded = false;
  /** When the read that returned the value started. */
  let readAt = -Infinity;
  /** Counts change notices. A read that started in an earlier epoch may have missed the change. */
  let changeEpoch = 0;
  let readEpoch = -1;
  let isStopped = false;
  // A function, because TypeScript does not see that the variable changes during an await.
  const hasStopped = () => isStopped;

  const getVerifiedAt = () => (readEpoch === changeEpoch ? Math.max(readAt, changes.syncedUntil()) : readAt);

  let hasEmitted = false;

  function setValue(next: T): void {
    if (hasEmitted && next === value) return;
    hasEmitted = true;
    value = next;
    onChange?.(next);
  }

  /** A caller that changed the store during a read waits for the next read: the current one may have missed the change. */
  const refresh = coalesce(async () => {
    if (isStopped) return;
    const startedAt = clock.now();
    const epochBefore = changeEpoch;
    const next = await read();
    if (hasStopped()) return;
    readAt = startedAt;
    readEpoch = epochBefore;
    isLoaded = true;
    setValue(next);
  });

  /** A failed read is not fatal: the last known value stays in use, and the next check reads again. */
  function refreshInBackground(): void {
    refresh().catch(() => undefined);
  }

  function check(): void {
    if (isStopped) return;
    const staleMs = clock.now() - getVerifiedAt();
    if (isLoaded && staleMs >= MAX_STALE_MS) {
      log('store_unreachable', { topic, staleMs });
      isLoaded = false;
      setValue(fallback);
    }
    if (!isLoaded || readEpoch !== changeEpoch || !isCurrent(changes, clock.now(), readAt))
      refreshInBackground();
    cancelTimer = clock.timer(CHECK_INTERVAL_MS, check);
  }

  const unsubscribe = changes.subscribe((change) => {
    if (change.topic !== topic || isStopped) return;
    changeEpoch += 1;
    refreshInBackground();
  });
  const ready = refresh().catch(() => undefined);
  let cancelTimer = clock.timer(CHECK_INTERVAL_MS, check);
  return {
    current: () => value,
    isFresh: () => isLoaded && readEpoch === changeEpoch && isCurrent(changes, clock.now(), readAt),
    refresh,
    ready,
    stop() {
      isStopped = true;
      cancelTimer();
      unsubscribe();
    },
  };
}
