/**
 * Several audit events in one row, so that a second of calls costs one write. Each segment carries the MAC of the
 * previous one, so that a missing or changed segment is detected.
 */
export interface AuditSegmentRecord {
  /** `<writer>:<seq, 12 digits>`: sorts the segments of a writer. */
  id: string;
  /** Identifies one process from its start to its end. */
  writer: string;
  /** From 1, without gaps. */
  seq: number;
  firstAt: number;
  lastAt: number;
  count: number;
  /**
   * The MAC of the previous segment of the writer. For the first one: of the newest segment in the store at that
   * time, or empty.
   */
  prev: string;
  mac: string;
  /** One JSON object per line, oldest first. */
  events: string;
}

export interface AuditSegmentQuery {
  /** Segments whose last event is at or after this time. */
  from?: number;
  /** Segments whose first event is at or before this time. */
  to?: number;
  /** Only segments after this one in the order of the result. */
  after?: { lastAt: number; id: string };
}

/** Append only. */
export interface AuditStore {
  /** Writes durably. Throws if the ID exists. */
  append(segment: AuditSegmentRecord): Promise<void>;
  /** The newest first, by `lastAt` and then by ID, both descending. */
  page(page: AuditSegmentQuery, limit: number): Promise<AuditSegmentRecord[]>;
  /** The segments of one writer, in order, starting at `seq`. */
  listByWriter(writer: string, seq: number, limit: number): Promise<AuditSegmentRecord[]>;
  /** All writers with their first and last stored segment. */
  listWriters(): Promise<{ writer: string; first: number; last: number; segments: number }[]>;
  /** Removes segments whose last event is before this time. Returns their number. */
  removeBefore(before: number): Promise<number>;
}
