import type { Keyring, SealContext } from '@behalf/kernel';
import type { AuditSegmentRecord } from '../ports/index.ts';

/** Where a writer's chain ends so far. */
export interface ChainEnd {
  readonly writer: string;
  /** 0 before the first segment. */
  readonly seq: number;
  /** What the next segment names as the one before it. */
  readonly mac: string;
  readonly lastAt: number;
}

/** Events that are written together, oldest first. */
export interface EventBatch {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lines: readonly string[];
}

export function segmentId(writer: string, seq: number): string {
  return `${writer}:${String(seq).padStart(12, '0')}`;
}

export function createNextSegment(
  chainEnd: ChainEnd,
  batch: EventBatch,
  keyring: Keyring,
): AuditSegmentRecord {
  const seq = chainEnd.seq + 1;
  const unsigned = {
    id: segmentId(chainEnd.writer, seq),
    writer: chainEnd.writer,
    seq,
    firstAt: batch.firstAt,
    // A clock that is set back must not put a segment before its predecessor in the store's order.
    lastAt: Math.max(chainEnd.lastAt, batch.lastAt),
    count: batch.lines.length,
    prev: chainEnd.mac,
    events: batch.lines.join('\n'),
  };
  return { ...unsigned, mac: keyring.mac(unsigned.events, toSealContext(unsigned)) };
}

export function chainEndOf({ writer, seq, mac, lastAt }: AuditSegmentRecord): ChainEnd {
  return { writer, seq, mac, lastAt };
}

export function hasValidMac(segment: AuditSegmentRecord, keyring: Keyring): boolean {
  return (
    segment.id === segmentId(segment.writer, segment.seq) &&
    keyring.verifyMac(segment.events, segment.mac, toSealContext(segment))
  );
}

export function linesOf({ events }: AuditSegmentRecord): string[] {
  return events === '' ? [] : events.split('\n');
}

/** All of a segment but its text is what the text is bound to: nothing of it can be changed, and none take another's place. */
function toSealContext(segment: Omit<AuditSegmentRecord, 'mac'>): SealContext {
  const { writer, seq, prev, firstAt, lastAt, count } = segment;
  return {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'audit',
    field: 'segment',
    binding: [writer, String(seq), prev, String(firstAt), String(lastAt), String(count)],
  };
}
