import type { AuditPage, AuditSegmentRecord, AuditStore } from '../ports/index.ts';
import type { StoredEvent } from './eventLine.ts';
import { readLine } from './eventLine.ts';
import { linesOf } from './segment.ts';

export interface AuditFilters {
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

export interface AuditReading {
  readonly store: AuditStore;
  /** Lets others have their turn: some stores answer at once, and a long read would be all the process does. */
  readonly giveWay: () => Promise<void>;
}

/** Whose events, and which of them. There is no reading without a tenant. */
export interface Reader {
  readonly tenant: string;
  readonly filters: AuditFilters;
}

export interface FoundEvent extends StoredEvent {
  /** `<writer>:<seq>:<line>`. */
  readonly id: string;
}

/** A line that is none of ours: it was changed in the store. It has no tenant, so everyone is told that it is there. */
export interface Unreadable {
  readonly id: string;
  readonly unreadable: true;
}

export type Entry = FoundEvent | Unreadable;

const FIRST_PAGE = 8;
const LARGEST_PAGE = 128;
/** A page with less text than this is followed by one of more segments. */
const SMALL_PAGE_CHARS = 1_000_000;

export async function* segmentsNewestFirst(
  { store, giveWay }: AuditReading,
  { from, to, after }: { [K in keyof AuditPage]: AuditPage[K] | undefined },
): AsyncGenerator<AuditSegmentRecord, void, void> {
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  let size = FIRST_PAGE;
  let place = after;
  for (;;) {
    const page = await store.page({ ...range, ...(place && { after: place }) }, size);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < size) return;
    place = { lastAt: last.lastAt, id: last.id };
    const chars = page.reduce((sum, { events }) => sum + events.length, 0);
    size = chars < SMALL_PAGE_CHARS ? Math.min(2 * size, LARGEST_PAGE) : FIRST_PAGE;
    await giveWay();
  }
}

/** The last first; only those before the line `below`. */
export function* entriesOf(
  segment: AuditSegmentRecord,
  { tenant, filters }: Reader,
  below = Infinity,
): Generator<{ readonly line: number; readonly entry: Entry }, void, void> {
  const lines = linesOf(segment);
  for (let line = Math.min(lines.length, below) - 1; line >= 0; line -= 1) {
    const id = `${segment.id}:${line}`;
    const event = readLine(lines[line] ?? '');
    if (event === null) yield { line, entry: { id, unreadable: true } };
    else if (event.tenant === tenant && fits(event, filters)) yield { line, entry: { id, ...event } };
  }
}

function fits(event: StoredEvent, filters: AuditFilters): boolean {
  const { actor, from = -Infinity, to = Infinity } = filters;
  for (const field of ['kind', 'action', 'server', 'tool', 'outcome', 'code', 'request'] as const) {
    if (filters[field] !== undefined && filters[field] !== event[field]) return false;
  }
  return (actor === undefined || actor === event.actor.id) && event.at >= from && event.at <= to;
}
