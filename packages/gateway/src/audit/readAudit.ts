import { GatewayError } from '../errors/gatewayError.ts';
import type { AuditSegmentQuery, AuditSegmentRecord, AuditStore } from '../ports/index.ts';
import { type StoredAuditEvent, linesOf, parseEventLine, segmentId } from './segment.ts';

/** What one request may read: a filter that nothing fits must not cost a walk through everything. */
const MAX_SEGMENTS = 500;
const MAX_CHARS = 16_000_000;
const MAX_QUERY_EVENTS = 1_000;

interface AuditPageQuery extends AuditScope {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface AuditQueryResult {
  /** The newest first: by segment, and within one from its last line to its first. */
  readonly events: readonly AuditLogEntry[];
  /** Where to go on. There may be nothing more; and there may be more although fewer than `limit` came. */
  readonly next?: string;
}

export async function queryAudit(parts: AuditReadParts, query: AuditPageQuery): Promise<AuditQueryResult> {
  const limit = Math.min(Math.max(1, query.limit), MAX_QUERY_EVENTS);
  const cursor = query.cursor === undefined ? undefined : readAuditCursor(query.cursor);
  const events: AuditLogEntry[] = [];
  let [segments, chars] = [0, 0];
  for await (const { segment, beforeLine } of readSegmentsFrom(parts, query, cursor)) {
    segments += 1;
    chars += segment.events.length;
    for (const { line, entry } of readEntries(segment, query, beforeLine)) {
      events.push(entry);
      if (events.length === limit) return { events, next: writeAuditCursor({ ...segment, line }) };
    }
    if (segments === MAX_SEGMENTS || chars >= MAX_CHARS) {
      return { events, next: writeAuditCursor({ ...segment, line: 0 }) };
    }
  }
  return { events };
}

/** The rest of the segment that was not shown to its end, then those after it. */
async function* readSegmentsFrom(
  parts: AuditReadParts,
  { filters: { from, to } }: AuditScope,
  cursor: AuditPosition | undefined,
): AsyncGenerator<{ segment: AuditSegmentRecord; beforeLine?: number }, void, void> {
  if (cursor && cursor.line > 0) {
    const [partialSegment] = await parts.store.listByWriter(cursor.writer, cursor.seq, 1);
    if (partialSegment?.seq === cursor.seq) yield { segment: partialSegment, beforeLine: cursor.line };
  }
  const after = cursor && toPageStart(cursor);
  for await (const segment of readSegmentsNewestFirst(parts, { from, to, after })) yield { segment };
}

/**
 * Everything that fits as JSON lines, the newest first, some lines at a time: what is not asked for is not read. Stop
 * asking, and it stops.
 */
export async function* exportAudit(
  parts: AuditReadParts,
  scope: AuditScope,
): AsyncGenerator<string, void, void> {
  const { from, to } = scope.filters;
  for await (const segment of readSegmentsNewestFirst(parts, { from, to, after: undefined })) {
    let text = '';
    for (const { entry } of readEntries(segment, scope)) text += `${JSON.stringify(entry)}\n`;
    if (text !== '') yield text;
  }
}

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
interface AuditScope {
  readonly tenant: string;
  readonly filters: AuditEventFilters;
}

export interface FoundEvent extends StoredAuditEvent {
  /** `<writer>:<seq>:<line>`. */
  readonly id: string;
}

/** A line that is none of ours: it was changed in the store. It has no tenant, so everyone is told that it is there. */
interface UnreadableLine {
  readonly id: string;
  readonly unreadable: true;
}

export type AuditLogEntry = FoundEvent | UnreadableLine;

const MIN_PAGE_SIZE = 8;
const MAX_PAGE_SIZE = 128;
/** A page with less text than this is followed by one of more segments. */
const SMALL_PAGE_CHARS = 1_000_000;

async function* readSegmentsNewestFirst(
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
function* readEntries(
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

/** The last event that was shown: go on with those before it in its segment, then with the segments after that one. */
interface AuditPosition {
  readonly writer: string;
  readonly seq: number;
  readonly lastAt: number;
  /** The line; the segment's number of lines when none of it was shown. */
  readonly line: number;
}

/** Opaque to callers. It says where, never what may be seen: it needs no signature. */
function writeAuditCursor({ writer, seq, lastAt, line }: AuditPosition): string {
  return Buffer.from(JSON.stringify([writer, seq, lastAt, line])).toString('base64url');
}

function readAuditCursor(cursor: string): AuditPosition {
  const [writer, seq, lastAt, line, ...rest] = decodeCursor(cursor);
  if (typeof writer !== 'string' || rest.length > 0) throw invalidCursor();
  if (!/^[\w-]{1,64}$/.test(writer) || !isCount(seq) || !isCount(lastAt) || !isCount(line))
    throw invalidCursor();
  return { writer, seq, lastAt, line };
}

function toPageStart({ writer, seq, lastAt }: AuditPosition): { lastAt: number; id: string } {
  return { lastAt, id: segmentId(writer, seq) };
}

function decodeCursor(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalidCursor(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'cursor', code: 'custom', message: 'is not a valid cursor' }],
  });
}
