import { createKeyring, systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { createCallEvent, createAuditRig, yieldNow, type AuditRig } from '../../test/auditRig.ts';
import type { AuditLog } from './auditLog.ts';
import { segmentId } from './segment.ts';
import { type VerifyParts, sweepAudit, verifyAudit } from './integrity.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

const verify = ({ store, keyring }: AuditRig, overrides: Partial<VerifyParts> = {}) =>
  verifyAudit({ store, keyring, yieldToEventLoop: yieldNow, ...overrides });

async function write(log: AuditLog, segments: number): Promise<string[]> {
  for (let i = 0; i < segments; i += 1) await log.record(createCallEvent({ tool: `t${i}` }));
  const { writer, seq } = log.stats();
  return Array.from({ length: segments }, (_, i) => segmentId(writer, seq - segments + 1 + i));
}

describe('verifying the audit log', () => {
  test('what was written by several at once verifies', async () => {
    const rig = createAuditRig();
    expect(await verify(rig)).toEqual({
      ok: true,
      writers: 0,
      segments: 0,
      events: 0,
      problems: [],
      more: 0,
    });
    const [a, b] = [rig.start(), rig.start()];
    for (let i = 0; i < 45; i += 1) {
      a.note(createCallEvent());
      await b.record(createCallEvent());
      await rig.clock.advance(600);
    }
    await a.close();
    const report = await verify(rig, { liveWriter: b.stats() });
    expect(report).toMatchObject({ ok: true, writers: 2, events: 90, problems: [] });
    expect(report.segments).toBeGreaterThan(60);
    // A process that begins names the newest there is.
    const [newest] = await rig.store.page({}, 1);
    const c = rig.start();
    await rig.clock.advance(2 * DAY_MS);
    const [first] = await write(c, 1);
    expect((await rig.segments()).find(({ id }) => id === first)).toMatchObject({
      seq: 1,
      prev: newest!.mac,
    });
    expect(await verify(rig)).toMatchObject({ ok: true, writers: 3 });
  });

  test('a change of anything in a segment shows', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    const ids = await write(log, 3);
    const { writer } = log.stats();
    const [, second] = await rig.segments();
    const events = second!.events.replace('t1', 't9');
    const changes = [
      { events },
      { events: '' },
      { count: 2 },
      { firstAt: 0 },
      { lastAt: second!.lastAt + 1 },
    ];
    for (const change of changes) {
      await rig.tamper(ids[1]!, change);
      expect([change, (await verify(rig)).problems]).toEqual([
        change,
        [{ writer, seq: 2, through: 2, problem: 'changed' }],
      ]);
      await rig.primary.raw.put('audit', [second!]);
    }
    expect(await verify(rig)).toMatchObject({ ok: true });
    await rig.tamper(ids[1]!, { prev: '' });
    expect((await verify(rig)).problems.map(({ problem }) => problem)).toEqual(['changed', 'link_broken']);
  });

  test('segments that change places, or writers, show', async () => {
    const rig = createAuditRig();
    const [a, b] = [rig.start(), rig.start()];
    await write(a, 3);
    await write(b, 3);
    const all = await rig.segments();
    const [first, second] = all.filter(({ writer }) => writer === a.stats().writer);
    const other = all.find(({ writer, seq }) => writer === b.stats().writer && seq === 2);
    const { id, seq, writer } = second!;
    await rig.tamper(id, { ...first, id, seq });
    expect((await verify(rig)).problems[0]).toMatchObject({ writer, seq: 2, problem: 'changed' });
    await rig.tamper(id, { ...other, id, seq, writer });
    expect((await verify(rig)).problems[0]).toMatchObject({ writer, seq: 2, problem: 'changed' });
  });

  test('segments that are gone show, each gap once', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    const ids = await write(log, 50);
    const { writer } = log.stats();
    for (const removedSeq of [4, 5, 6, 30]) await rig.tamper(ids[removedSeq - 1]!, null);
    expect(await verify(rig)).toMatchObject({
      ok: false,
      segments: 46,
      problems: [
        { writer, seq: 4, through: 6, problem: 'missing' },
        { writer, seq: 30, through: 30, problem: 'missing' },
      ],
    });
  });

  test('so does a beginning, an end while it runs, and a whole writer', async () => {
    const rig = createAuditRig();
    const earlier = rig.start();
    await write(earlier, 3);
    await rig.clock.advance(DAY_MS);
    const secondWriter = rig.start();
    await write(secondWriter, 2);
    await rig.clock.advance(DAY_MS);
    const log = rig.start();
    const ids = await write(log, 3);
    const liveWriter = log.stats();
    const { writer } = liveWriter;
    expect(await verify(rig, { liveWriter })).toMatchObject({ ok: true });

    const [first] = await rig.store.listByWriter(writer, 1, 1);
    await rig.tamper(ids[0]!, null);
    expect((await verify(rig)).problems).toEqual([{ writer, seq: 1, through: 1, problem: 'start_missing' }]);
    await rig.primary.raw.put('audit', [first!]);

    const [third] = await rig.store.listByWriter(writer, 3, 1);
    await rig.tamper(ids[2]!, null);
    expect((await verify(rig, { liveWriter })).problems).toEqual([
      { writer, seq: 3, through: 3, problem: 'end_missing' },
    ]);
    await rig.primary.raw.put('audit', [third!]);

    for (const seq of [1, 2]) await rig.tamper(segmentId(secondWriter.stats().writer, seq), null);
    expect((await verify(rig, { liveWriter })).problems).toEqual([
      { writer, seq: 1, through: 1, problem: 'predecessor_missing' },
    ]);
    for (const id of ids) await rig.tamper(id, null);
    expect((await verify(rig, { liveWriter })).problems).toEqual([
      { writer, seq: 1, through: 3, problem: 'end_missing' },
    ]);
  });

  test('after a rotation both keys verify; without the old one it says so', async () => {
    const rig = createAuditRig();
    const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const log = rig.start();
    const { writer } = log.stats();
    await write(log, 3);
    const rotating = createKeyring([newKey, oldKey], systemRandom);
    await write(rig.start({ keyring: rotating }), 2);
    expect(await verify(rig, { keyring: rotating })).toMatchObject({ ok: true });
    const rotated = createKeyring([newKey], systemRandom);
    expect((await verify(rig, { keyring: rotated })).problems).toEqual([
      { writer, seq: 1, through: 3, problem: 'unknown_key' },
    ]);
  });

  test('a report stays short however much is wrong, and stops when nobody waits', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    const ids = await write(log, 2_200);
    for (let i = 0; i < ids.length; i += 2) await rig.primary.raw.remove('audit', [ids[i]!]);
    const report = await verify(rig);
    expect([report.problems.length, report.more]).toEqual([1_000, 100]);
    await expect(verify(rig, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('the retention of the audit log', () => {
  test('what is older goes, and what is kept verifies', async () => {
    const rig = createAuditRig();
    const [a, b, idle] = [rig.start(), rig.start(), rig.start()];
    await write(idle, 2);
    for (let day = 0; day < 60; day += 1) {
      await write(a, 1);
      if (day % 3 === 0) await write(b, 1);
      await rig.clock.advance(DAY_MS);
    }
    const { store, clock } = rig;
    const sweep = (days: number) => sweepAudit({ store, clock, days, audit: a });
    expect(await sweep(90)).toBe(0);
    expect(await store.listWriters()).toHaveLength(3);
    expect(await sweep(30)).toBe(2 + 30 + 10);
    expect(await verify(rig, { liveWriter: a.stats() })).toMatchObject({
      ok: true,
      writers: 2,
      problems: [],
    });
    expect((await rig.events()).every(({ at }) => at >= clock.now() - 30 * DAY_MS)).toBe(true);
    expect((await rig.events()).at(-1)).toMatchObject({ action: 'audit.sweep', actor: { kind: 'gateway' } });

    // A second one, by another process, long after the first is forgotten.
    await clock.advance(40 * DAY_MS);
    await write(b, 1);
    const later = rig.start();
    expect(await sweepAudit({ store, clock, days: 30, audit: later })).toBeGreaterThan(30);
    expect(await verify(rig)).toMatchObject({ ok: true, writers: 2 });
  });

  test('more than a sweep said it removes is missing', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    for (let day = 0; day < 10; day += 1) {
      await write(log, 1);
      await rig.clock.advance(DAY_MS);
    }
    const { writer } = log.stats();
    await sweepAudit({ store: rig.store, clock: rig.clock, days: 5, audit: log });
    expect((await rig.store.listByWriter(writer, 0, 1))[0]).toMatchObject({ seq: 6 });
    await rig.tamper(segmentId(writer, 6), null);
    expect((await verify(rig)).problems).toEqual([{ writer, seq: 6, through: 6, problem: 'start_missing' }]);
  });

  test('nothing is removed before it is written that it will be', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    await write(log, 2);
    await rig.clock.advance(10 * DAY_MS);
    const audit = { record: () => Promise.reject(new Error('The store does not answer')) };
    const { store, clock } = rig;
    await expect(sweepAudit({ store, clock, days: 5, audit })).rejects.toThrow('does not answer');
    expect(await store.page({}, 10)).toHaveLength(2);
  });
});
