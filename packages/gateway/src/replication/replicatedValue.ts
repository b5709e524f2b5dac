import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type ChangeTopic } from '../ports/index.ts';
import type { Log } from '../upstream/upstream.ts';

/** Something small that every call asks about: kept in memory, and read again whenever somebody changes it. */
export interface ReplicatedValue<T> {
  /** Without I/O, at most two seconds old while the store answers. Half a minute without an answer: `nothing`. */
  current(): T;
  /** Whether it is at most two seconds old: what is decided for good may not rest on less. */
  isFresh(): boolean;
  /** Reads now; rejects when the store does not answer. For who has just changed it. */
  refresh(): Promise<void>;
  /** Resolves when the first answer, or the first failure, has come. */
  readonly ready: Promise<void>;
  stop(): void;
}

interface ReplicatedValueParts<T> {
  readonly topic: ChangeTopic;
  readonly read: () => Promise<T>;
  /** What holds when nobody can say what holds: it must allow nothing. */
  readonly fallback: T;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs after each change of what is current. */
  readonly onChange?: (value: T) => void;
}

const CHECK_INTERVAL_MS = 1_000;
/** For how long calls run on while the store does not answer. */
const MAX_STALE_MS = 30_000;

export function createReplicatedValue<T>(parts: ReplicatedValueParts<T>): ReplicatedValue<T> {
  const { topic, read, fallback, changes, clock, log, onChange } = parts;
  let value = fallback;
  let isLoaded = false;
  /** When what is current was last known to be so. */
  let readAt = -Infinity;
  let changeEpoch = 0;
  let readEpoch = -1;
  let isStopped = false;
  let currentRead: Promise<void> | null = null;
  /** The one after it, for everybody who asked meanwhile. */
  let queuedRead: Promise<void> | null = null;

  const getValidAt = () => (readEpoch === changeEpoch ? Math.max(readAt, changes.syncedUntil()) : readAt);

  function setValue(next: T): void {
    value = next;
    onChange?.(next);
  }

  async function readOnce(): Promise<void> {
    const startedAt = clock.now();
    const epochBefore = changeEpoch;
    const next = await read();
    if (isStopped) return;
    readAt = startedAt;
    readEpoch = epochBefore;
    isLoaded = true;
    setValue(next);
  }

  function startRead(): Promise<void> {
    currentRead = readOnce().finally(() => {
      currentRead = null;
    });
    return currentRead;
  }

  /** A read that begins now, or after the one under way: that one may have begun before what is asked about. */
  function refresh(): Promise<void> {
    if (!currentRead) return startRead();
    queuedRead ??= currentRead
      .catch(() => undefined)
      .then(() => {
        queuedRead = null;
        return isStopped ? undefined : startRead();
      });
    return queuedRead;
  }

  function check(): void {
    if (isStopped) return;
    if (isLoaded && clock.now() - getValidAt() >= MAX_STALE_MS) {
      log('store_unreachable', { topic, staleMs: clock.now() - getValidAt() });
      isLoaded = false;
      setValue(fallback);
    }
    if (!isLoaded || readEpoch !== changeEpoch || !isCurrent(changes, clock.now(), readAt))
      ignoreErrors(refresh());
    cancelTimer = clock.timer(CHECK_INTERVAL_MS, check);
  }

  const unsubscribe = changes.subscribe((change) => {
    if (change.topic !== topic || isStopped) return;
    changeEpoch += 1;
    ignoreErrors(refresh());
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

/** A store that does not answer is asked again at the next check; until then what is known holds. */
function ignoreErrors(operation: Promise<void>): void {
  operation.catch(() => undefined);
}
