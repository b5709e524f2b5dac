import type { AuditSegmentQuery, AuditSegmentRecord, AuditStore } from '../ports/index.ts';
import type { StoredAuditEvent } from './eventLine.ts';
import { parseEventLine } from './eventLine.ts';
import { linesOf } from './segment.ts';

export interface AuditEventFilters {
  readonly kind?: string | undefined;
  readonly action?: string | undefined;
  /** The id of who did it. */
  readonly actor?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  readonly request?: string | undefined;
  /** Not before, and not after: milliseconds since the epoch. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditReadParts {
  readonly store: AuditStore;
  /** Lets others have their turn: some stores answer at once, and a long read would be all the process does. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** Whose events, and which of them. There is no reading without a tenant. */
export interface AuditScope {
  readonly tenant: string;
  readonly filters: AuditEventFilters;
}

export interface FoundEvent extends StoredAuditEvent {
  /** `<writer>:<seq>:<line>`. */
  readonly id: string;
}

/** A line that is none of ours: it was changed in the store. It has no tenant, so everyone is told that it is there. */
export interface UnreadableLine {
  readonly id: string;
  readonly unreadable: true;
}

export type AuditLogEntry = FoundEvent | UnreadableLine;

const MIN_PAGE_SIZE = 8;
const MAX_PAGE_SIZE = 128;
/** A page with less text than this is followed by one of more segments. */
const SMALL_PAGE_CHARS = 1_000_000;

export async function* readSegmentsNewestFirst(
  { store, yieldToEventLoop }: AuditReadParts,
  { from, to, after }: { [K in keyof AuditSegmentQuery]: AuditSegmentQuery[K] | undefined },
): AsyncGenerator<AuditSegmentRecord, void, void> {
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  let size = MIN_PAGE_SIZE;
  let position = after;
  for (;;) {
    const page = await store.page({ ...range, ...(position && { after: position }) }, size);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < size) return;
    position = { lastAt: last.lastAt, id: last.id };
    const chars = page.reduce((sum, { events }) => sum + events.length, 0);
    size = chars < SMALL_PAGE_CHARS ? Math.min(2 * size, MAX_PAGE_SIZE) : MIN_PAGE_SIZE;
    await yieldToEventLoop();
  }
}

/** The last first; only those before the line `below`. */
export function* readEntries(
  segment: AuditSegmentRecord,
  { tenant, filters }: AuditScope,
  beforeLine = Infinity,
): Generator<{ readonly line: number; readonly entry: AuditLogEntry }, void, void> {
  const lines = linesOf(segment);
  for (let line = Math.min(lines.length, beforeLine) - 1; line >= 0; line -= 1) {
    const id = `${segment.id}:${line}`;
    const event = parseEventLine(lines[line] ?? '');
    if (event === null) yield { line, entry: { id, unreadable: true } };
    else if (event.tenant === tenant && matchesFilters(event, filters))
      yield { line, entry: { id, ...event } };
  }
}

function matchesFilters(event: StoredAuditEvent, filters: AuditEventFilters): boolean {
  const { actor, from = -Infinity, to = Infinity } = filters;
  for (const field of ['kind', 'action', 'server', 'tool', 'outcome', 'code', 'request'] as const) {
    if (filters[field] !== undefined && filters[field] !== event[field]) return false;
  }
  return (actor === undefined || actor === event.actor.id) && event.at >= from && event.at <= to;
}
