import type { AuditSegmentRecord } from '../ports/index.ts';
import { placeOf, readCursor, writeCursor, type Position } from './cursor.ts';
import {
  entriesOf,
  segmentsNewestFirst,
  type Entry,
  type Reader,
  type AuditReading,
} from './readSegments.ts';

/** What one request may read: a filter that nothing fits must not cost a walk through everything. */
const MOST_SEGMENTS = 500;
const MOST_CHARS = 16_000_000;
export const MOST_EVENTS = 1_000;

export interface AuditQueryParts extends Reader {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface AuditAnswer {
  /** The newest first: by segment, and within one from its last line to its first. */
  readonly events: readonly Entry[];
  /** Where to go on. There may be nothing more; and there may be more although fewer than `limit` came. */
  readonly next?: string;
}

export async function queryAudit(parts: AuditReading, query: AuditQueryParts): Promise<AuditAnswer> {
  const limit = Math.min(Math.max(1, query.limit), MOST_EVENTS);
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const events: Entry[] = [];
  let [segments, chars] = [0, 0];
  for await (const { segment, below } of segmentsFrom(parts, query, cursor)) {
    segments += 1;
    chars += segment.events.length;
    for (const { line, entry } of entriesOf(segment, query, below)) {
      events.push(entry);
      if (events.length === limit) return { events, next: writeCursor({ ...segment, line }) };
    }
    if (segments === MOST_SEGMENTS || chars >= MOST_CHARS) {
      return { events, next: writeCursor({ ...segment, line: 0 }) };
    }
  }
  return { events };
}

/** The rest of the segment that was not shown to its end, then those after it. */
async function* segmentsFrom(
  parts: AuditReading,
  { filters: { from, to } }: Reader,
  cursor: Position | undefined,
): AsyncGenerator<{ segment: AuditSegmentRecord; below?: number }, void, void> {
  if (cursor && cursor.line > 0) {
    const [begun] = await parts.store.ofWriter(cursor.writer, cursor.seq, 1);
    if (begun?.seq === cursor.seq) yield { segment: begun, below: cursor.line };
  }
  const after = cursor && placeOf(cursor);
  for await (const segment of segmentsNewestFirst(parts, { from, to, after })) yield { segment };
}
