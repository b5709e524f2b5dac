import { sleep, within, type Cancel, type Clock, type Keyring, type Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { DEFAULT_TENANT } from '../identity/accounts.ts';
import type { AuditStore } from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import type { Audit, AuditEvent } from './audit.ts';
import { eventLine } from './eventLine.ts';
import { createLosses } from './losses.ts';
import { endOf, nextSegment, type Batch, type ChainEnd } from './segment.ts';

/** For how long somebody waits for the store: who records, and who closes. */
const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** No segment grows much beyond this, whatever its events are like: a store has a limit for a row. */
const SEGMENT_CHARS = 1_000_000;

export interface AuditLogParts {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly flushMs?: number;
  /** Events that are written together, and that may wait while others are being written. */
  readonly most?: number;
}

export interface AuditStats {
  readonly writer: string;
  /** Of the last segment that is in the store for certain; 0 for none. */
  readonly seq: number;
  /** Events that are not in the store yet. */
  readonly waiting: number;
  /** Events that found no room, since the start. */
  readonly lost: number;
  /** Whether the store refused the last attempt. */
  readonly failing: boolean;
}

export interface AuditLog extends Audit {
  stats(): AuditStats;
  /** Writes what waits, for at most five seconds. Idempotent. */
  close(): Promise<void>;
}

interface Waiting {
  readonly event: AuditEvent;
  readonly at: number;
  readonly written: (() => void) | undefined;
}

interface Taken extends Batch {
  readonly written: readonly (() => void)[];
}

/** One chain of segments per process. At most one is being written; what comes meanwhile waits, within bounds. */
export function createAuditLog(parts: AuditLogParts): AuditLog {
  const { store, keyring, clock, random, log, flushMs = 1_000, most = 1_000 } = parts;
  const losses = createLosses();
  let end: ChainEnd = { writer: random.id(), seq: 0, mac: '', lastAt: 0 };
  /** The first segment names what was the newest in the store. */
  let begun = false;
  let waiting: Waiting[] = [];
  let recordsWaiting = 0;
  /** Events that are to come, and whose room nobody else gets. */
  let reserved = 0;
  let inFlight = 0;
  let writing: Promise<void> | null = null;
  let cancelTimer: Cancel = () => undefined;
  let failing = false;
  let closing: Promise<void> | null = null;
  let givenUp = false;
  const hurry = new AbortController();

  function flush(): void {
    cancelTimer();
    if (writing || waiting.length === 0) return;
    writing = writeWhatIsDue();
  }

  async function writeWhatIsDue(): Promise<void> {
    do {
      const batch = take();
      await appendUntilWritten(batch);
      if (givenUp) return;
      inFlight = 0;
      for (const tell of batch.written) tell();
    } while (isDue());
    writing = null;
    const [first] = waiting;
    // Between the bounds also when the clock was set meanwhile.
    const left = first ? first.at + flushMs - clock.now() : 0;
    if (first) cancelTimer = clock.timer(Math.min(flushMs, Math.max(0, left)), flush);
  }

  function isDue(): boolean {
    const [first] = waiting;
    if (!first) return false;
    if (closing || recordsWaiting > 0 || waiting.length >= most / 2) return true;
    return clock.now() - first.at >= flushMs;
  }

  /** Serialises here and not in `note`: a call does not wait for it. */
  function take(): Taken {
    const lines: string[] = [];
    const written: (() => void)[] = [];
    let [chars, taken, firstAt, lastAt] = [0, 0, Infinity, 0];
    const add = (event: AuditEvent, at: number) => {
      const line = eventLine(event, at);
      lines.push(line);
      chars += line.length;
      firstAt = Math.min(firstAt, at);
      lastAt = Math.max(lastAt, at);
    };
    for (const entry of waiting) {
      if (chars >= SEGMENT_CHARS) break;
      taken += 1;
      if (entry.written) recordsWaiting -= 1;
      try {
        add(entry.event, entry.at);
        if (entry.written) written.push(entry.written);
      } catch {
        // Something that is no event must not stop the others.
        losses.count(DEFAULT_TENANT, entry.at);
      }
    }
    waiting = waiting.slice(taken);
    for (const event of losses.take()) add(event, clock.now());
    inFlight = lines.length;
    return { lines, written, firstAt, lastAt };
  }

  async function appendUntilWritten(batch: Batch): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      try {
        await append(batch);
        if (failing) log('audit_available', {});
        failing = false;
        return;
      } catch {
        if (!failing) log('audit_unavailable', { writer: end.writer, seq: end.seq + 1 });
        failing = true;
      }
      if (givenUp) return;
      const jittered = pause * (0.5 + random.uniform() / 2);
      if (closing) await sleep(clock, FIRST_PAUSE_MS);
      else await sleep(clock, jittered, hurry.signal).catch(() => undefined);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }

  /** The same segment under the same id for as long as it takes, so that no attempt can write it twice. */
  async function append(batch: Batch): Promise<void> {
    if (!begun) {
      const [newest] = await store.page({}, 1);
      end = { ...end, mac: newest?.mac ?? '' };
      begun = true;
    }
    const segment = nextSegment(end, batch, keyring);
    try {
      await store.append(segment);
    } catch (error) {
      // A failed attempt may have got there: this one, or the one before it.
      const [kept] = await store.ofWriter(segment.writer, segment.seq, 1);
      if (kept?.seq !== segment.seq) throw error;
      if (kept.mac !== segment.mac) {
        // Somebody with the database put a row in our way. It will not verify; we go on beside it.
        log('audit_row_forged', { writer: segment.writer, seq: segment.seq });
        end = { ...end, writer: random.id(), seq: 0 };
        throw error;
      }
    }
    end = endOf(segment);
  }

  async function finish(): Promise<void> {
    cancelTimer();
    hurry.abort();
    flush();
    await within(clock, PATIENCE_MS, Promise.resolve(writing), () => undefined);
    givenUp = true;
    if (waiting.length + inFlight > 0) log('audit_unwritten', { events: waiting.length + inFlight });
  }

  return {
    note(event, isReserved = false) {
      if (isReserved) reserved -= 1;
      if (closing || (!isReserved && waiting.length + reserved >= most)) {
        losses.count(event.tenant, clock.now());
        return;
      }
      waiting.push({ event, at: clock.now(), written: undefined });
      // Early: while this half is written the other is there for what comes.
      if (waiting.length >= most / 2) flush();
      else if (waiting.length === 1 && !writing) cancelTimer = clock.timer(flushMs, flush);
    },
    async record(event) {
      if (closing || recordsWaiting >= most) {
        losses.count(event.tenant, clock.now());
        throw new GatewayError('AUDIT_UNAVAILABLE');
      }
      const written = new Promise<void>((resolve) => {
        waiting.push({ event, at: clock.now(), written: resolve });
      });
      recordsWaiting += 1;
      flush();
      await within(clock, PATIENCE_MS, written, () => {
        throw new GatewayError('AUDIT_UNAVAILABLE');
      });
    },
    reserve() {
      if (closing || waiting.length + reserved >= most) return false;
      reserved += 1;
      return true;
    },
    stats: () => ({
      writer: end.writer,
      seq: end.seq,
      waiting: waiting.length + inFlight,
      lost: losses.total,
      failing,
    }),
    close: () => (closing ??= finish()),
  };
}
