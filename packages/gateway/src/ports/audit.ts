/**
 * A few events in a row, written as one: one row for a second of calls costs what one call would. Each carries the MAC of
 * the one before it, so that one that is missing or changed shows.
 */
export interface AuditSegmentRecord {
  /** `<writer>:<seq, 12 digits>`: the segments of a writer in order. */
  id: string;
  /** One process from its start to its end. */
  writer: string;
  /** From 1, without gaps. */
  seq: number;
  firstAt: number;
  lastAt: number;
  count: number;
  /** The MAC of the segment before; for the first one the newest in the store when the writer began, or empty. */
  prev: string;
  mac: string;
  /** One JSON object a line, oldest first. */
  events: string;
}

export interface AuditSegmentQuery {
  /** Segments whose last event is not before this time. */
  from?: number;
  /** Segments whose first event is not after this time. */
  to?: number;
  /** Only what comes after this one in the order of the answer. */
  after?: { lastAt: number; id: string };
}

/** Append only. */
export interface AuditStore {
  /** Durably. Throws when the id exists. */
  append(segment: AuditSegmentRecord): Promise<void>;
  /** The newest first, by `lastAt` and then by id, both descending. */
  page(page: AuditSegmentQuery, limit: number): Promise<AuditSegmentRecord[]>;
  /** Of one writer, in order, from `seq` on. */
  listByWriter(writer: string, seq: number, limit: number): Promise<AuditSegmentRecord[]>;
  /** Which writers there are, with their first and last kept segment. */
  listWriters(): Promise<{ writer: string; first: number; last: number; segments: number }[]>;
  /** Those whose last event is before this time; how many segments. */
  removeBefore(before: number): Promise<number>;
}
