import { type Cancel, type Clock, type Keyring, type Random, sleep, withTimeout } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AuditStore } from '../ports/index.ts';
import { DEFAULT_TENANT } from '../principal/principal.ts';
import type { Log } from '../upstream/upstream.ts';
import type { Audit, AuditEvent } from './audit.ts';
import { type ChainEnd, type EventBatch, chainEndOf, createNextSegment, formatEventLine } from './segment.ts';

/** The maximum delay of a noted event. */
const FLUSH_MS = 1_000;
/** How long `record` and `close` wait for the store. */
const STORE_TIMEOUT_MS = 5_000;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/** Soft limit for the text of a segment. Stores limit the size of a row. */
const MAX_SEGMENT_CHARS = 1_000_000;

interface AuditLogParts {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The maximum number of waiting events. */
  readonly maxEvents?: number;
}

interface AuditStats {
  readonly writer: string;
  /** The number of the last segment that the store confirmed; 0 for none. */
  readonly seq: number;
  /** The number of events that are not in the store yet. */
  readonly waiting: number;
  /** The number of dropped events since the start. */
  readonly lost: number;
  /** Whether the last write failed. */
  readonly failing: boolean;
}

export interface AuditLog extends Audit {
  stats(): AuditStats;
  /** Writes the waiting events, for at most five seconds. Idempotent. */
  close(): Promise<void>;
}

interface PendingEvent {
  readonly event: AuditEvent;
  readonly at: number;
  readonly onWritten: (() => void) | undefined;
}

interface PendingBatch extends EventBatch {
  readonly onWritten: readonly (() => void)[];
}

/**
 * Writes the events of this process as one chain of segments.
 *
 * Invariants:
 * - `record` resolves only after the store confirmed the segment of its event.
 * - At most one segment is being written. A failed write is retried with the same segment id, so no event is stored twice.
 * - The queue is bounded. Dropped events are counted per tenant and minute, and the counts are written.
 */
export function createAuditLog(parts: AuditLogParts): AuditLog {
  const { store, keyring, clock, random, log, maxEvents = 1_000 } = parts;
  const lostEvents = createLostEvents();
  let chainEnd: ChainEnd = { writer: random.id(), seq: 0, mac: '', lastAt: 0 };
  /** Whether the first segment has its predecessor: the newest segment of the store at that time. */
  let isChainStarted = false;
  let pending: PendingEvent[] = [];
  let pendingRecords = 0;
  /** Queue slots that are kept for later `note` calls. */
  let reserved = 0;
  let inFlight = 0;
  let writing: Promise<void> | null = null;
  let cancelTimer: Cancel = () => undefined;
  let failing = false;
  let closing: Promise<void> | null = null;
  let isAbandoned = false;
  const closeController = new AbortController();

  function flush(): void {
    cancelTimer();
    if (writing || pending.length === 0) return;
    writing = writeDueBatches();
  }

  async function writeDueBatches(): Promise<void> {
    do {
      const batch = takeBatch();
      await appendWithRetry(batch);
      if (isAbandoned) return;
      inFlight = 0;
      for (const notifyWritten of batch.onWritten) notifyWritten();
    } while (isDue());
    writing = null;
    const [first] = pending;
    // Clamped, because the clock may have been set since the event was queued.
    const remainingMs = first ? first.at + FLUSH_MS - clock.now() : 0;
    if (first) cancelTimer = clock.timer(Math.min(FLUSH_MS, Math.max(0, remainingMs)), flush);
  }

  function isDue(): boolean {
    const [first] = pending;
    if (!first) return false;
    if (closing || pendingRecords > 0 || pending.length >= maxEvents / 2) return true;
    return clock.now() - first.at >= FLUSH_MS;
  }

  /** Serializes the queued events. Not done in `note`, which runs in the path of a call. */
  function takeBatch(): PendingBatch {
    const lines: string[] = [];
    const onWritten: (() => void)[] = [];
    let [chars, takenCount, firstAt, lastAt] = [0, 0, Infinity, 0];
    const addLine = (event: AuditEvent, at: number) => {
      const line = formatEventLine(event, at);
      lines.push(line);
      chars += line.length;
      firstAt = Math.min(firstAt, at);
      lastAt = Math.max(lastAt, at);
    };
    for (const entry of pending) {
      if (chars >= MAX_SEGMENT_CHARS) break;
      takenCount += 1;
      if (entry.onWritten) pendingRecords -= 1;
      try {
        addLine(entry.event, entry.at);
        if (entry.onWritten) onWritten.push(entry.onWritten);
      } catch {
        // A malformed event must not block the other events.
        lostEvents.count(DEFAULT_TENANT, entry.at);
      }
    }
    pending = pending.slice(takenCount);
    for (const event of lostEvents.drain()) addLine(event, clock.now());
    inFlight = lines.length;
    return { lines, onWritten, firstAt, lastAt };
  }

  async function appendWithRetry(batch: EventBatch): Promise<void> {
    let backoffMs = MIN_BACKOFF_MS;
    for (;;) {
      try {
        await append(batch);
        if (failing) log('audit_recovered', {});
        failing = false;
        return;
      } catch {
        if (!failing) log('audit_unavailable', { writer: chainEnd.writer, seq: chainEnd.seq + 1 });
        failing = true;
      }
      if (isAbandoned) return;
      const jitteredMs = backoffMs * (0.5 + random.uniform() / 2);
      if (closing) await sleep(clock, MIN_BACKOFF_MS);
      else await sleep(clock, jitteredMs, closeController.signal).catch(() => undefined);
      backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS);
    }
  }

  /** Writes the batch as the next segment. A retry uses the same id, so the store rejects a second copy. */
  async function append(batch: EventBatch): Promise<void> {
    if (!isChainStarted) {
      const [newest] = await store.page({}, 1);
      chainEnd = { ...chainEnd, mac: newest?.mac ?? '' };
      isChainStarted = true;
    }
    const segment = createNextSegment(chainEnd, batch, keyring);
    try {
      await store.append(segment);
    } catch (error) {
      // The store may have written the segment before this attempt or an earlier one failed.
      const [stored] = await store.listByWriter(segment.writer, segment.seq, 1);
      if (stored?.seq !== segment.seq) throw error;
      if (stored.mac !== segment.mac) {
        // Another party wrote a row with this id. Verification reports it; the log continues under a new writer id.
        log('audit_segment_conflict', { writer: segment.writer, seq: segment.seq });
        chainEnd = { ...chainEnd, writer: random.id(), seq: 0 };
        throw error;
      }
    }
    chainEnd = chainEndOf(segment);
  }

  async function finish(): Promise<void> {
    cancelTimer();
    closeController.abort();
    flush();
    await withTimeout(clock, STORE_TIMEOUT_MS, Promise.resolve(writing), () => undefined);
    isAbandoned = true;
    if (pending.length + inFlight > 0) log('audit_events_lost', { events: pending.length + inFlight });
  }

  return {
    note(event, isReserved = false) {
      if (isReserved) reserved -= 1;
      if (closing || (!isReserved && pending.length + reserved >= maxEvents)) {
        lostEvents.count(event.tenant, clock.now());
        return;
      }
      pending.push({ event, at: clock.now(), onWritten: undefined });
      // Flush at half capacity: the other half takes new events during the write.
      if (pending.length >= maxEvents / 2) flush();
      else if (pending.length === 1 && !writing) cancelTimer = clock.timer(FLUSH_MS, flush);
    },
    async record(event) {
      if (closing || pendingRecords >= maxEvents) {
        lostEvents.count(event.tenant, clock.now());
        throw new GatewayError('AUDIT_UNAVAILABLE');
      }
      const written = new Promise<void>((resolve) => {
        pending.push({ event, at: clock.now(), onWritten: resolve });
      });
      pendingRecords += 1;
      flush();
      await withTimeout(clock, STORE_TIMEOUT_MS, written, () => {
        throw new GatewayError('AUDIT_UNAVAILABLE');
      });
    },
    reserve() {
      if (closing || pending.length + reserved >= maxEvents) return false;
      reserved += 1;
      return true;
    },
    stats: () => ({
      writer: chainEnd.writer,
      seq: chainEnd.seq,
      waiting: pending.length + inFlight,
      lost: lostEvents.total,
      failing,
    }),
    close: () => (closing ??= finish()),
  };
}

const MINUTE_MS = 60_000;
/** The maximum number of separate counts. Further drops are counted together under the default tenant. */
const MAX_LOST_ENTRIES = 1_000;

interface LostEvents {
  /** `tenant` is not a string if the dropped value was malformed. */
  count(tenant: unknown, at: number): void;
  /** Returns one event per tenant and minute, and resets the counts. */
  drain(): AuditEvent[];
  /** All drops since the start. */
  readonly total: number;
}

/** Counts dropped events. Each tenant has its own count, so no tenant sees the number of another. */
function createLostEvents(): LostEvents {
  let lost = new Map<string, { readonly tenant: string; readonly minute: number; count: number }>();
  let total = 0;

  return {
    get total() {
      return total;
    },
    count(eventTenant, at) {
      total += 1;
      const tenant = typeof eventTenant === 'string' ? eventTenant : DEFAULT_TENANT;
      const minute = at - (at % MINUTE_MS);
      const key = JSON.stringify([tenant, minute]);
      const entry = lost.get(key);
      if (entry) entry.count += 1;
      else if (lost.size < MAX_LOST_ENTRIES) lost.set(key, { tenant, minute, count: 1 });
      else {
        const overflow = lost.get('rest') ?? { tenant: DEFAULT_TENANT, minute, count: 0 };
        overflow.count += 1;
        lost.set('rest', overflow);
      }
    },
    drain() {
      const entries = [...lost.values()];
      lost = new Map();
      return entries.map(({ tenant, minute, count }) => ({
        kind: 'audit',
        action: 'audit.lost',
        tenant,
        actor: { kind: 'gateway', id: '' },
        door: 'gateway',
        outcome: 'failed',
        // The start of the minute, in milliseconds since the epoch.
        subject: String(minute),
        count,
      }));
    },
  };
}
