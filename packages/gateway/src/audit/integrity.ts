import type { AuditProblemKind } from '@behalf/contracts';
import { type Clock, type Keyring, abortReason } from '@behalf/kernel';
import type { AuditSegmentRecord, AuditStore } from '../ports/index.ts';
import { DEFAULT_TENANT } from '../principal/principal.ts';
import type { Audit } from './audit.ts';
import type { AuditReadParts } from './readAudit.ts';
import { type StoredAuditEvent, hasValidMac, linesOf, parseEventLine } from './segment.ts';

const PAGE_SIZE = 20;
const MAX_PROBLEMS = 1_000;
/** Tolerated difference between the clocks of two replicas. */
const CLOCK_SKEW_MS = 60 * 60 * 1_000;

interface AuditProblem {
  readonly writer: string;
  /** The first affected segment. */
  readonly seq: number;
  /** The last affected segment. */
  readonly through: number;
  readonly problem: AuditProblemKind;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly writers: number;
  readonly segments: number;
  readonly events: number;
  readonly problems: AuditProblem[];
  /** How many problems exceed the list. */
  readonly more: number;
}

export interface VerifyParts extends AuditReadParts {
  readonly keyring: Keyring;
  /** The writer of this process and its last written segment. Reveals that the end of its chain was removed. */
  readonly liveWriter?: { readonly writer: string; readonly seq: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface ChainStart {
  readonly writer: string;
  readonly seq: number;
  readonly prev: string;
  readonly firstAt: number;
}

/**
 * Verifies every chain of the store in one pass: the MAC of each segment, the link to its predecessor, and gaps. A removed
 * beginning is a problem unless an `audit.sweep` event of a genuine segment accounts for it.
 */
export async function verifyAudit(parts: VerifyParts): Promise<AuditReport> {
  const { store, keyring, yieldToEventLoop, liveWriter, signal } = parts;
  const problems = createProblemList();
  const chainStarts: ChainStart[] = [];
  const sweptThrough = new Map<string, number>();
  let [segments, events, oldestAt] = [0, 0, Infinity];

  const writers = await store.listWriters();
  // The MACs that first segments name as their predecessor and that no segment has shown yet.
  const unseenPredecessors = new Set<string>();
  for (const { writer } of writers) {
    const [first] = await store.listByWriter(writer, 0, 1);
    if (!first) continue;
    chainStarts.push({ writer, seq: first.seq, prev: first.prev, firstAt: first.firstAt });
    if (first.seq === 1 && first.prev !== '') unseenPredecessors.add(first.prev);
  }

  function checkSegment(segment: AuditSegmentRecord, previous: AuditSegmentRecord | undefined): void {
    const { writer, seq } = segment;
    segments += 1;
    events += segment.count;
    oldestAt = Math.min(oldestAt, segment.lastAt);
    if (!keyring.hasKeyFor(segment.mac)) problems.add(writer, seq, 'unknown_key');
    else if (!hasValidMac(segment, keyring)) problems.add(writer, seq, 'changed');
    else
      for (const { writer: sweptWriter, through } of findSweptRanges(segment))
        sweptThrough.set(sweptWriter, Math.max(sweptThrough.get(sweptWriter) ?? 0, through));
    if (previous && seq > previous.seq + 1) problems.add(writer, previous.seq + 1, 'missing', seq - 1);
    else if (previous && segment.prev !== previous.mac) problems.add(writer, seq, 'link_broken');
    unseenPredecessors.delete(segment.mac);
  }

  for (const { writer, seq: firstSeq } of chainStarts) {
    let previous: AuditSegmentRecord | undefined;
    for (;;) {
      if (signal?.aborted) throw abortReason(signal);
      const page = await store.listByWriter(writer, previous ? previous.seq + 1 : firstSeq, PAGE_SIZE);
      for (const segment of page) {
        checkSegment(segment, previous);
        previous = segment;
      }
      if (page.length < PAGE_SIZE) break;
      await yieldToEventLoop();
    }
    if (liveWriter?.writer === writer && (previous?.seq ?? 0) < liveWriter.seq) {
      problems.add(writer, (previous?.seq ?? 0) + 1, 'end_missing', liveWriter.seq);
    }
  }

  if (liveWriter && liveWriter.seq > 0 && !chainStarts.some(({ writer }) => writer === liveWriter.writer)) {
    problems.add(liveWriter.writer, 1, 'end_missing', liveWriter.seq);
  }
  for (const { writer, seq, prev, firstAt } of chainStarts) {
    if (seq > 1) {
      // Only a sweep may remove the beginning of a chain, and its event names the last removed segment.
      const through = sweptThrough.get(writer) ?? 0;
      if (through < seq - 1) problems.add(writer, through + 1, 'start_missing', seq - 1);
    } else if ((prev === '' || unseenPredecessors.has(prev)) && oldestAt + CLOCK_SKEW_MS < firstAt) {
      // A sweep removes the oldest segments first. An older segment is still stored, so the predecessor must be too.
      problems.add(writer, seq, 'predecessor_missing');
    }
  }
  const { list, more } = problems;
  return {
    ok: list.length === 0,
    writers: chainStarts.length,
    segments,
    events,
    problems: list,
    more: more(),
  };
}

function findSweptRanges(segment: AuditSegmentRecord): { writer: string; through: number }[] {
  const lines = linesOf(segment).filter((line) => line.includes(`"${SWEEP_ACTION}"`));
  return lines.flatMap((line) => readSweptRanges(parseEventLine(line)));
}

/** Merges adjacent segments with the same problem into one entry. */
function createProblemList() {
  const list: AuditProblem[] = [];
  let omitted = 0;
  return {
    list,
    more: () => omitted,
    add(writer: string, seq: number, problem: AuditProblemKind, through = seq): void {
      const last = list.at(-1);
      if (last?.writer === writer && last.problem === problem && last.through === seq - 1) {
        list[list.length - 1] = { ...last, through };
      } else if (list.length < MAX_PROBLEMS) list.push({ writer, seq, through, problem });
      else omitted += 1;
    },
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_RANGES_PER_EVENT = 50;
const SWEEP_ACTION = 'audit.sweep';

/**
 * Removes the segments that are older than the retention period, and returns their number. An event first records the last
 * removed segment of each writer, so that verification detects every other removal.
 */
export async function sweepAudit(parts: {
  store: AuditStore;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  days: number;
}): Promise<number> {
  const { store, audit, clock, days } = parts;
  const before = clock.now() - days * DAY_MS;
  const ranges: string[] = [];
  for (const { writer, first, last } of await store.listWriters()) {
    const through = await findLastBefore(store, writer, { first, last, before });
    if (through >= first) ranges.push(`${writer}:${through}`);
  }
  if (ranges.length === 0) return 0;
  for (let offset = 0; offset < ranges.length; offset += MAX_RANGES_PER_EVENT) {
    await audit.record({
      kind: 'audit',
      action: SWEEP_ACTION,
      tenant: DEFAULT_TENANT,
      actor: { kind: 'gateway', id: '' },
      door: 'gateway',
      outcome: 'ok',
      subject: String(before),
      changed: ranges.slice(offset, offset + MAX_RANGES_PER_EVENT),
    });
  }
  return store.removeBefore(before);
}

/** The writers and last removed segments that a sweep event names. Pass only events of segments with a valid MAC. */
function readSweptRanges(event: StoredAuditEvent | null): { writer: string; through: number }[] {
  if (event?.action !== SWEEP_ACTION || event.actor.kind !== 'gateway') return [];
  return (event.changed ?? []).flatMap((range) => {
    const [, writer, through] = /^([\w-]+):(\d+)$/.exec(range) ?? [];
    return writer === undefined ? [] : [{ writer, through: Number(through) }];
  });
}

/** Binary search: a writer's segments are in order of time, and a scan would read the text of each. */
async function findLastBefore(
  store: AuditStore,
  writer: string,
  { first, last, before }: { first: number; last: number; before: number },
): Promise<number> {
  let [low, high] = [first - 1, last];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [found] = await store.listByWriter(writer, middle, 1);
    // If `middle` is missing, the next existing segment decides for it.
    if (found && found.lastAt < before) low = Math.max(middle, Math.min(found.seq, high));
    else high = middle - 1;
  }
  return low;
}
