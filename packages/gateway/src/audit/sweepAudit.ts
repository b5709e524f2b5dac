import type { Clock } from '@behalf/kernel';
import { DEFAULT_TENANT } from '../identity/accounts.ts';
import type { AuditStore } from '../ports/index.ts';
import type { Audit } from './audit.ts';
import type { StoredAuditEvent } from './eventLine.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_RANGES_PER_EVENT = 50;
const SWEEP_ACTION = 'audit.sweep';

/**
 * Removes what is older than the retention. First it is written into the chain up to which segment each writer's are
 * going: so what somebody else removed shows. Answers how many segments went.
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

/** What a sweep said it removes: the writer, and the last of its segments that went. Only of a genuine segment. */
export function readSweptRanges(event: StoredAuditEvent): { writer: string; through: number }[] {
  if (event.action !== SWEEP_ACTION || event.actor.kind !== 'gateway') return [];
  return (event.changed ?? []).flatMap((range) => {
    const [, writer, through] = /^([\w-]+):(\d+)$/.exec(range) ?? [];
    return writer === undefined ? [] : [{ writer, through: Number(through) }];
  });
}

/** By halves: a writer's segments are in order of time, and reading them all would read all their text. */
async function findLastBefore(
  store: AuditStore,
  writer: string,
  { first, last, before }: { first: number; last: number; before: number },
): Promise<number> {
  let [low, high] = [first - 1, last];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [found] = await store.listByWriter(writer, middle, 1);
    // Where some are missing, the next one there is says it for them.
    if (found && found.lastAt < before) low = Math.max(middle, Math.min(found.seq, high));
    else high = middle - 1;
  }
  return low;
}
