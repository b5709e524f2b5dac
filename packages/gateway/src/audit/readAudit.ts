import { GatewayError } from '../errors/gatewayError.ts';
import type { AuditSegmentQuery, AuditSegmentRecord, AuditStore } from '../ports/index.ts';
import { type StoredAuditEvent, linesOf, parseEventLine, segmentId } from './segment.ts';

/** Limits for one request: a filter without matches must not read the whole log. */
const MAX_SEGMENTS = 500;
const MAX_CHARS = 16_000_000;
const MAX_QUERY_EVENTS = 1_000;

interface AuditPageQuery extends AuditScope {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface AuditQueryResult {
  /** Newest first: segments in descending order, lines of a segment in descending order. */
  readonly events: readonly AuditLogEntry[];
  /**
   * The cursor of the next page. The next page may be empty, and a page with fewer than `limit` events may have a next one.
   */
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

/** The unread lines of the cursor's segment, then the older segments. */
async function* readSegmentsFrom(
  parts: AuditReadParts,
  { filters: { from, to } }: AuditScope,
  cursor: AuditPosition | undefined,
): AsyncGenerator<{ segment: AuditSegmentRecord; beforeLine?: number }, void, void> {
  if (cursor && cursor.line > 0) {
    const [partialSegment] = await parts.store.listByWriter(cursor.writer, cursor.seq, 1);
    if (partialSegment?.seq === cursor.seq) yield { segment: partialSegment, beforeLine: cursor.line };
  }
  const after = cursor && { lastAt: cursor.lastAt, id: segmentId(cursor.writer, cursor.seq) };
  for await (const segment of readSegmentsNewestFirst(parts, { from, to, after })) yield { segment };
}

/**
 * All matching events as JSON lines, newest first. Each chunk is read only when the consumer requests it.
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
  /** The id of the actor. */
  readonly actor?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  readonly request?: string | undefined;
  /** Inclusive limits in milliseconds since the epoch. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditReadParts {
  readonly store: AuditStore;
  /** Runs between pages. Some stores answer synchronously, so a long read would block the event loop. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** The tenant is required: no query reads the events of all tenants. */
interface AuditScope {
  readonly tenant: string;
  readonly filters: AuditEventFilters;
}

/**
 * `id` is `<writer>:<seq>:<line>`. An unreadable line was changed in the store. Its tenant is unknown, so every tenant sees
 * that it exists.
 */
export type AuditLogEntry = FoundEvent | { readonly id: string; readonly unreadable: true };
export type FoundEvent = StoredAuditEvent & { readonly id: string };

const MIN_PAGE_SIZE = 8;
const MAX_PAGE_SIZE = 128;
/** After a page with less text than this, the page size doubles. */
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

/** In descending order of lines, starting before `beforeLine`. */
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

/** The position of the last returned event. The next page continues with the line before it. */
interface AuditPosition {
  readonly writer: string;
  readonly seq: number;
  readonly lastAt: number;
  readonly line: number;
}

/** Opaque to callers. Not signed, because a cursor is only a position: the tenant comes from the caller of the query. */
function writeAuditCursor({ writer, seq, lastAt, line }: AuditPosition): string {
  return Buffer.from(JSON.stringify([writer, seq, lastAt, line])).toString('base64url');
}

function readAuditCursor(cursor: string): AuditPosition {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [writer, seq, lastAt, line, ...rest] = Array.isArray(decoded) ? (decoded as unknown[]) : [];
    const isWriter = typeof writer === 'string' && /^[\w-]{1,64}$/.test(writer);
    if (isWriter && isCount(seq) && isCount(lastAt) && isCount(line) && rest.length === 0)
      return { writer, seq, lastAt, line };
  } catch {
    // Not JSON.
  }
  throw new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'cursor', code: 'custom', message: 'is not a valid cursor' }],
  });
}
