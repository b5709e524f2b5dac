import type { AuditSegmentRecord } from '../ports/index.ts';
import { toPageStart, readAuditCursor, writeAuditCursor, type AuditPosition } from './cursor.ts';
import {
  readEntries,
  readSegmentsNewestFirst,
  type AuditLogEntry,
  type AuditScope,
  type AuditReadParts,
} from './readSegments.ts';

/** What one request may read: a filter that nothing fits must not cost a walk through everything. */
const MAX_SEGMENTS = 500;
const MAX_CHARS = 16_000_000;
export const MAX_QUERY_EVENTS = 1_000;

export interface AuditPageQuery extends AuditScope {
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
