import type { AuditProblemKind } from '@behalf/contracts';
import { abortReason, type Keyring } from '@behalf/kernel';
import type { AuditSegmentRecord } from '../ports/index.ts';
import { readLine } from './eventLine.ts';
import type { AuditReading } from './readSegments.ts';
import { isGenuine, linesOf } from './segment.ts';
import { sweptBy } from './sweepAudit.ts';

const PAGE = 20;
const MOST_PROBLEMS = 1_000;
/** Two processes that begin at once name the same predecessor; their clocks may differ. */
const SLACK_MS = 60 * 60 * 1_000;

export interface AuditProblem {
  readonly writer: string;
  /** The first and the last segment concerned. */
  readonly seq: number;
  readonly through: number;
  readonly problem: AuditProblemKind;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly writers: number;
  readonly segments: number;
  readonly events: number;
  readonly problems: AuditProblem[];
  /** Problems beyond those listed. */
  readonly more: number;
}

export interface VerifyParts extends AuditReading {
  readonly keyring: Keyring;
  /** How far a writer has come that is still at work: of it an end cannot be cut off unseen. */
  readonly live?: { readonly writer: string; readonly seq: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Begin {
  readonly writer: string;
  readonly seq: number;
  readonly prev: string;
  readonly firstAt: number;
}

/** Reads everything once, and keeps a few numbers per writer. */
export async function verifyAudit(parts: VerifyParts): Promise<AuditReport> {
  const { store, keyring, giveWay, live, signal } = parts;
  const problems = createProblems();
  const begins: Begin[] = [];
  const swept = new Map<string, number>();
  let [segments, events, oldest] = [0, 0, Infinity];

  const writers = await store.writers();
  // Those of the first segments: who named as predecessor what is there, is linked.
  const named = new Set<string>();
  for (const { writer } of writers) {
    const [first] = await store.ofWriter(writer, 0, 1);
    if (!first) continue;
    begins.push({ writer, seq: first.seq, prev: first.prev, firstAt: first.firstAt });
    if (first.seq === 1 && first.prev !== '') named.add(first.prev);
  }

  function look(segment: AuditSegmentRecord, before: AuditSegmentRecord | undefined): void {
    const { writer, seq } = segment;
    segments += 1;
    events += segment.count;
    oldest = Math.min(oldest, segment.lastAt);
    if (!keyring.knowsKeyOf(segment.mac)) problems.add(writer, seq, 'unknown_key');
    else if (!isGenuine(segment, keyring)) problems.add(writer, seq, 'changed');
    else
      for (const { writer: of, through } of cutsIn(segment))
        swept.set(of, Math.max(swept.get(of) ?? 0, through));
    if (before && seq > before.seq + 1) problems.add(writer, before.seq + 1, 'missing', seq - 1);
    else if (before && segment.prev !== before.mac) problems.add(writer, seq, 'link_broken');
    named.delete(segment.mac);
  }

  for (const { writer, seq: begin } of begins) {
    let before: AuditSegmentRecord | undefined;
    for (;;) {
      if (signal?.aborted) throw abortReason(signal);
      const page = await store.ofWriter(writer, before ? before.seq + 1 : begin, PAGE);
      for (const segment of page) {
        look(segment, before);
        before = segment;
      }
      if (page.length < PAGE) break;
      await giveWay();
    }
    if (live?.writer === writer && (before?.seq ?? 0) < live.seq) {
      problems.add(writer, (before?.seq ?? 0) + 1, 'end_missing', live.seq);
    }
  }

  if (live && live.seq > 0 && !begins.some(({ writer }) => writer === live.writer)) {
    problems.add(live.writer, 1, 'end_missing', live.seq);
  }
  for (const { writer, seq, prev, firstAt } of begins) {
    if (seq > 1) {
      // Only a sweep may have removed the beginning, and it says how far.
      const through = swept.get(writer) ?? 0;
      if (through < seq - 1) problems.add(writer, through + 1, 'start_missing', seq - 1);
    } else if ((prev === '' || named.has(prev)) && oldest + SLACK_MS < firstAt) {
      // What is kept was there when this one began, so the newest of that time must be kept too.
      problems.add(writer, seq, 'predecessor_missing');
    }
  }
  const { list, more } = problems;
  return { ok: list.length === 0, writers: begins.length, segments, events, problems: list, more: more() };
}

function cutsIn(segment: AuditSegmentRecord): { writer: string; through: number }[] {
  if (!segment.events.includes('"audit.sweep"')) return [];
  return linesOf(segment).flatMap((line) => {
    const event = line.includes('"audit.sweep"') ? readLine(line) : null;
    return event ? sweptBy(event) : [];
  });
}

/** Neighbours with the same problem are one. */
function createProblems() {
  const list: AuditProblem[] = [];
  let beyond = 0;
  return {
    list,
    more: () => beyond,
    add(writer: string, seq: number, problem: AuditProblemKind, through = seq): void {
      const last = list.at(-1);
      if (last?.writer === writer && last.problem === problem && last.through === seq - 1) {
        list[list.length - 1] = { ...last, through };
      } else if (list.length < MOST_PROBLEMS) list.push({ writer, seq, through, problem });
      else beyond += 1;
    },
  };
}
