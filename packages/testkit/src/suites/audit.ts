import type { AuditSegmentRecord, PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aSegment(overrides: Partial<Omit<AuditSegmentRecord, 'id'>> = {}): AuditSegmentRecord {
  const record = {
    writer: 'w1',
    seq: 1,
    firstAt: 1_000,
    lastAt: 1_000,
    count: 1,
    prev: '',
    mac: 'mac',
    events: '{"action":"tool.call"}',
    ...overrides,
  };
  return { id: `${record.writer}:${String(record.seq).padStart(12, '0')}`, ...record };
}

export function auditSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`AuditStore on ${label}`, () => {
    const store = useStore(open);
    const append = async (...segments: AuditSegmentRecord[]) => {
      for (const segment of segments) await store().audit.append(segment);
    };
    const ids = (segments: readonly { id: string }[]) => segments.map(({ id }) => id);
    const one = aSegment({ firstAt: 1_000, lastAt: 2_000 });
    const two = aSegment({ seq: 2, firstAt: 3_000, lastAt: 4_000 });
    const twin = aSegment({ writer: 'w2', firstAt: 3_500, lastAt: 4_000 });
    const late = aSegment({ seq: 3, firstAt: 5_000, lastAt: 6_000 });

    test('a segment is read back byte for byte', async () => {
      const odd = aSegment({ prev: 'before', count: 2, events: '{"a":"$& ünïcode 李"}\n{"b":"\\u0000"}' });
      await append(odd);
      expect(await store().audit.page({}, 10)).toEqual([odd]);
      expect(await store().audit.listByWriter('w1', 1, 10)).toEqual([odd]);
    });

    test('of 20 parallel segments of one number, one is kept and the others are refused', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store().audit.append(aSegment({ mac: `m${i}` }))),
      );
      const stored = outcomes.findIndex(({ status }) => status === 'fulfilled');
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      // A sequence number of a writer is unique, also with another ID.
      await expect(store().audit.append({ ...aSegment(), id: 'another' })).rejects.toThrow();
      expect(await store().audit.page({}, 30)).toEqual([aSegment({ mac: `m${stored}` })]);
    });

    test('the newest come first, page by page, each once, also those of one moment', async () => {
      await append(two, late, one, twin);
      const newest = [late, twin, two, one];
      expect(await store().audit.page({}, 10)).toEqual(newest);
      const seen: AuditSegmentRecord[] = [];
      for (let last: AuditSegmentRecord | undefined; ; last = seen.at(-1)) {
        const page = await store().audit.page(last === undefined ? {} : { after: last }, 1);
        if (page.length === 0) break;
        seen.push(...page);
      }
      expect(seen).toEqual(newest);
    });

    test('a span of time has the segments that reach into it, and goes together with a page', async () => {
      await append(one, two, twin, late);
      const page = async (span: { from?: number; to?: number; after?: AuditSegmentRecord }) =>
        ids(await store().audit.page(span, 10));
      expect(await page({ from: 4_000 })).toEqual(ids([late, twin, two]));
      expect(await page({ from: 4_001 })).toEqual(ids([late]));
      expect(await page({ to: 3_000 })).toEqual(ids([two, one]));
      expect(await page({ to: 2_999 })).toEqual(ids([one]));
      expect(await page({ from: 3_900, to: 3_900 })).toEqual(ids([twin, two]));
      expect(await page({ from: 2_500, after: twin })).toEqual(ids([two]));
    });

    test('each writer has a row of segments of its own', async () => {
      await append(one, two, twin, late);
      expect(ids(await store().audit.listByWriter('w1', 2, 10))).toEqual(ids([two, late]));
      expect(ids(await store().audit.listByWriter('w1', 1, 2))).toEqual(ids([one, two]));
      expect(await store().audit.listByWriter('w3', 1, 10)).toEqual([]);
      expect(await store().audit.listWriters()).toEqual([
        { writer: 'w1', first: 1, last: 3, segments: 3 },
        { writer: 'w2', first: 1, last: 1, segments: 1 },
      ]);
    });

    test('what ended before a time goes, and nothing else', async () => {
      await append(one, two, twin, late);
      expect(await store().audit.removeBefore(2_000)).toBe(0);
      expect(await store().audit.removeBefore(4_000)).toBe(1);
      expect(ids(await store().audit.page({}, 10))).toEqual(ids([late, twin, two]));
      expect(await store().audit.removeBefore(4_001)).toBe(2);
      expect(await store().audit.listWriters()).toEqual([{ writer: 'w1', first: 3, last: 3, segments: 1 }]);
    });
  });
}
