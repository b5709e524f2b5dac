import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type ChangeTopic } from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';

/** Something small that every call asks about: kept in memory, and read again whenever somebody changes it. */
export interface Followed<T> {
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

export interface FollowParts<T> {
  readonly topic: ChangeTopic;
  readonly read: () => Promise<T>;
  /** What holds when nobody can say what holds: it must allow nothing. */
  readonly nothing: T;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs after each change of what is current. */
  readonly onChange?: (value: T) => void;
}

const CHECK_MS = 1_000;
/** For how long calls run on while the store does not answer. */
const PATIENCE_MS = 30_000;

export function follow<T>(parts: FollowParts<T>): Followed<T> {
  const { topic, read, nothing, changes, clock, log, onChange } = parts;
  let value = nothing;
  let known = false;
  /** When what is current was last known to be so. */
  let readAt = -Infinity;
  let notices = 0;
  let heard = -1;
  let stopped = false;
  let running: Promise<void> | null = null;
  /** The one after it, for everybody who asked meanwhile. */
  let queued: Promise<void> | null = null;

  const trueAt = () => (heard === notices ? Math.max(readAt, changes.checkedAt()) : readAt);

  function set(next: T): void {
    value = next;
    onChange?.(next);
  }

  async function readOnce(): Promise<void> {
    const begun = clock.now();
    const noticesBefore = notices;
    const next = await read();
    if (stopped) return;
    readAt = begun;
    heard = noticesBefore;
    known = true;
    set(next);
  }

  function begin(): Promise<void> {
    running = readOnce().finally(() => {
      running = null;
    });
    return running;
  }

  /** A read that begins now, or after the one under way: that one may have begun before what is asked about. */
  function refresh(): Promise<void> {
    if (!running) return begin();
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = null;
        return stopped ? undefined : begin();
      });
    return queued;
  }

  function check(): void {
    if (stopped) return;
    if (known && clock.now() - trueAt() >= PATIENCE_MS) {
      log('store_unanswered', { topic, forMs: clock.now() - trueAt() });
      known = false;
      set(nothing);
    }
    if (!known || heard !== notices || !isCurrent(changes, clock.now(), readAt)) quietly(refresh());
    cancel = clock.timer(CHECK_MS, check);
  }

  const leave = changes.subscribe((notice) => {
    if (notice.topic !== topic || stopped) return;
    notices += 1;
    quietly(refresh());
  });
  const ready = refresh().catch(() => undefined);
  let cancel = clock.timer(CHECK_MS, check);
  return {
    current: () => value,
    isFresh: () => known && heard === notices && isCurrent(changes, clock.now(), readAt),
    refresh,
    ready,
    stop() {
      stopped = true;
      cancel();
      leave();
    },
  };
}

/** A store that does not answer is asked again at the next check; until then what is known holds. */
function quietly(work: Promise<void>): void {
  work.catch(() => undefined);
}
