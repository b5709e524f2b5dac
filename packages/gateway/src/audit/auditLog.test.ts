import { describe, expect, test } from '@jest/globals';
import { createCallEvent, createAuditRig } from '../../test/auditRig.ts';
import type { AuditEvent } from './audit.ts';
import { segmentId } from './segment.ts';

const unavailable = { code: 'AUDIT_UNAVAILABLE' };
const tools = (events: readonly { tool?: string | undefined }[]) => events.map(({ tool }) => tool);

/** How it stands, without waiting for it. */
function watch(work: Promise<unknown>): { state: string } {
  const seen = { state: 'waiting' };
  work.then(
    () => (seen.state = 'done'),
    (error: unknown) => (seen.state = (error as { code: string }).code),
  );
  return seen;
}

describe('the audit log', () => {
  test('events are kept in their order, each with its time', async () => {
    const { start, clock, events, segments } = createAuditRig();
    const log = start();
    const startedAt = clock.now();
    log.note(createCallEvent({ tool: 'a' }));
    await clock.advance(10);
    log.note(createCallEvent({ tool: 'b' }));
    await log.record(createCallEvent({ kind: 'config', action: 'server.create', tool: 'c' }));
    log.note(createCallEvent({ tool: 'd' }));
    await clock.advance(1_000);
    const found = await events();
    expect(tools(found)).toEqual(['a', 'b', 'c', 'd']);
    expect(found.map(({ at }) => at - startedAt)).toEqual([0, 10, 10, 10]);
    const { writer } = log.stats();
    expect(found.map(({ id }) => id)).toEqual([
      `${segmentId(writer, 1)}:0`,
      `${segmentId(writer, 1)}:1`,
      `${segmentId(writer, 1)}:2`,
      `${segmentId(writer, 2)}:0`,
    ]);
    expect(await segments()).toMatchObject([
      { seq: 1, count: 3, firstAt: startedAt, lastAt: startedAt + 10, prev: '' },
      { seq: 2, count: 1 },
    ]);
  });

  test('what is noted is written after a second, together', async () => {
    const { start, clock, segments } = createAuditRig();
    const log = start();
    log.note(createCallEvent());
    await clock.advance(600);
    log.note(createCallEvent());
    await clock.advance(399);
    expect(await segments()).toEqual([]);
    await clock.advance(1);
    expect(await segments()).toMatchObject([{ count: 2 }]);
    log.note(createCallEvent());
    await clock.advance(999);
    expect(await segments()).toHaveLength(1);
    await clock.advance(1);
    expect(await segments()).toHaveLength(2);
  });

  test('or as soon as there are a thousand', async () => {
    const { start, clock, segments } = createAuditRig();
    const log = start();
    for (let i = 0; i < 499; i += 1) log.note(createCallEvent());
    await clock.advance(0);
    expect(await segments()).toEqual([]);
    log.note(createCallEvent());
    await clock.advance(0);
    expect(await segments()).toMatchObject([{ count: 500 }]);
  });

  test('a segment stays of a size that every store takes', async () => {
    const { start, clock, segments } = createAuditRig();
    const log = start();
    const names = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(200, 'x'));
    for (let i = 0; i < 300; i += 1) log.note(createCallEvent({ arguments: names }));
    await clock.advance(1_000);
    const all = await segments();
    expect(all.length).toBeGreaterThan(2);
    expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(300);
    for (const { events } of all) expect(events.length).toBeLessThan(1_100_000);
  });

  test('a record is done when it is in the store, and not before', async () => {
    const { start, clock, storeBehavior, releaseHeldAppends, segments } = createAuditRig();
    const log = start();
    storeBehavior('hold');
    const record = watch(log.record(createCallEvent()));
    await clock.advance(4_000);
    expect([record.state, await segments()]).toEqual(['waiting', []]);
    releaseHeldAppends();
    await clock.advance(0);
    expect(record.state).toBe('done');
    expect(await segments()).toHaveLength(1);
  });

  test('without an answer for five seconds it fails', async () => {
    for (const bad of ['hold', 'refuse'] as const) {
      const { start, clock, storeBehavior, releaseHeldAppends, events } = createAuditRig();
      const log = start();
      storeBehavior(bad);
      const record = watch(log.record(createCallEvent({ tool: 'late' })));
      await clock.advance(4_999);
      expect([bad, record.state]).toEqual([bad, 'waiting']);
      await clock.advance(1);
      expect([bad, record.state]).toEqual([bad, unavailable.code]);
      // What it told of may have been done, so it is not thrown away.
      releaseHeldAppends();
      await clock.advance(10_000);
      expect(tools(await events())).toEqual(['late']);
    }
  });

  test('those who come while one is written share the next segment', async () => {
    const { start, clock, storeBehavior, releaseHeldAppends, segments } = createAuditRig();
    const log = start();
    storeBehavior('hold');
    const records = ['a', 'b', 'c', 'd'].map((tool) => watch(log.record(createCallEvent({ tool }))));
    await clock.advance(100);
    releaseHeldAppends();
    await clock.advance(0);
    expect(records.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    expect(await segments()).toMatchObject([{ count: 1 }, { count: 3 }]);
  });

  test('what cannot be written is not done', async () => {
    const { start, clock, segments, events } = createAuditRig();
    const log = start();
    const hostile = Object.defineProperty({ ...createCallEvent() }, 'action', {
      get() {
        throw new Error('no');
      },
    });
    const record = watch(log.record(hostile));
    log.note(createCallEvent({ tool: 'beside' }));
    await clock.advance(5_000);
    expect(record.state).toBe(unavailable.code);
    expect(await segments()).toHaveLength(2);
    expect((await events()).map(({ action }) => action)).toEqual(['audit.lost', 'tool.call']);
  });

  test('with no room left nothing may begin, and losses are counted', async () => {
    const { start, clock, storeBehavior, releaseHeldAppends, events } = createAuditRig();
    const log = start({ maxEvents: 8 });
    storeBehavior('hold');
    for (let i = 0; i < 4; i += 1) log.note(createCallEvent({ tool: 'in flight' }));
    await clock.advance(0);
    expect(log.stats().waiting).toBe(4);
    for (let i = 0; i < 2; i += 1) log.note(createCallEvent({ tool: 'waits' }));
    // What begins now is sure of its room, whatever others write meanwhile.
    expect([log.reserve(), log.reserve()]).toEqual([true, true]);
    for (let i = 0; i < 7; i += 1) log.note(createCallEvent({ tool: 'late' }));
    expect(log.reserve()).toBe(false);
    for (let i = 0; i < 2; i += 1) log.note(createCallEvent({ tool: 'under way' }), true);
    log.note(createCallEvent({ tenant: 'other' }));
    await clock.advance(60_000);
    log.note(createCallEvent());
    expect(log.stats()).toMatchObject({ waiting: 12, lost: 5 });
    releaseHeldAppends();
    await clock.advance(0);
    expect([log.reserve(), log.stats().waiting]).toEqual([true, 0]);
    const found = await events();
    expect(tools(found)).toEqual([
      ...Array<string>(4).fill('in flight'),
      ...Array<string>(2).fill('waits'),
      ...Array<string>(4).fill('late'),
      ...Array<string>(2).fill('under way'),
      ...[undefined, undefined],
    ]);
    const minute = Date.UTC(2026, 0, 1);
    const lost = { kind: 'audit', action: 'audit.lost', outcome: 'failed', actor: { kind: 'gateway' } };
    expect(found.slice(-2)).toMatchObject([
      { ...lost, count: 3, subject: String(minute) },
      { ...lost, count: 1, subject: String(minute + 60_000) },
    ]);
    expect(await events('other')).toMatchObject([{ ...lost, count: 1, tenant: 'other' }]);
  });

  test('too many records are refused at once, and counted', async () => {
    const { start, clock, storeBehavior } = createAuditRig();
    const log = start({ maxEvents: 2 });
    storeBehavior('refuse');
    const records = [1, 2, 3, 4].map(() => watch(log.record(createCallEvent())));
    await clock.advance(0);
    expect(records.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting', unavailable.code]);
    expect(log.stats()).toMatchObject({ waiting: 3, lost: 1, failing: true });
  });

  test('something lost that is no event does not stop the log', async () => {
    const { start, clock, storeBehavior, releaseHeldAppends, events } = createAuditRig();
    const log = start({ maxEvents: 1 });
    storeBehavior('hold');
    log.note(createCallEvent());
    log.note(createCallEvent());
    log.note({} as AuditEvent);
    releaseHeldAppends();
    await clock.advance(0);
    await log.record(createCallEvent());
    expect((await events()).map(({ action }) => action)).toEqual([
      ...['tool.call', 'tool.call', 'audit.lost', 'tool.call'],
    ]);
  });

  test('a store that fails is asked again, for the same segment', async () => {
    const { start, clock, storeBehavior, appendAttempts, segments, logged } = createAuditRig();
    const log = start();
    storeBehavior('refuse');
    log.note(createCallEvent());
    await clock.advance(60_000);
    // Soon at first, and then every few seconds.
    expect(appendAttempts()).toBeGreaterThan(8);
    expect(appendAttempts()).toBeLessThan(40);
    expect(log.stats()).toMatchObject({ seq: 0, waiting: 1, failing: true });
    storeBehavior('well');
    await clock.advance(10_000);
    expect(await segments()).toMatchObject([{ seq: 1, count: 1 }]);
    expect(log.stats()).toMatchObject({ seq: 1, waiting: 0, failing: false, lost: 0 });
    expect(logged.map(({ event }) => event)).toEqual(['audit_unavailable', 'audit_recovered']);
  });

  test('a segment whose answer was lost is not written twice', async () => {
    const { start, clock, storeBehavior, segments } = createAuditRig();
    const log = start();
    storeBehavior('answer-lost');
    await log.record(createCallEvent({ tool: 'a' }));
    await log.record(createCallEvent({ tool: 'b' }));
    await clock.advance(10_000);
    expect(await segments()).toMatchObject([
      { seq: 1, count: 1 },
      { seq: 2, count: 1 },
    ]);
  });

  test('a row that somebody puts in the way does not stop the log', async () => {
    const { start, clock, primary, segments, logged } = createAuditRig();
    const log = start();
    await log.record(createCallEvent({ tool: 'a' }));
    const [first] = await segments();
    const { writer } = log.stats();
    await primary.raw.put('audit', [{ ...first!, id: segmentId(writer, 2), seq: 2 }]);
    const record = watch(log.record(createCallEvent({ tool: 'b' })));
    await clock.advance(1_000);
    expect(record.state).toBe('done');
    expect(log.stats().writer).not.toBe(writer);
    const mine = (await segments()).filter((segment) => segment.writer === log.stats().writer);
    expect(mine).toMatchObject([{ seq: 1, prev: first!.mac }]);
    expect(logged.map(({ event }) => event)).toContain('audit_segment_conflict');
  });

  test('what waits is written at the end, and nothing is taken any more', async () => {
    const { start, clock, events } = createAuditRig();
    const log = start();
    log.note(createCallEvent({ tool: 'a' }));
    const closed = log.close();
    expect(log.close()).toBe(closed);
    await closed;
    expect(tools(await events())).toEqual(['a']);
    log.note(createCallEvent({ tool: 'b' }));
    await expect(log.record(createCallEvent())).rejects.toMatchObject(unavailable);
    expect(log.reserve()).toBe(false);
    await clock.advance(5_000);
    expect(tools(await events())).toEqual(['a']);
  });

  test('a pause before the next attempt is cut short by the end', async () => {
    const { start, clock, storeBehavior, events } = createAuditRig();
    const log = start();
    storeBehavior('refuse');
    log.note(createCallEvent({ tool: 'a' }));
    await clock.advance(30_000);
    log.note(createCallEvent({ tool: 'b' }));
    storeBehavior('well');
    const closed = watch(log.close());
    await clock.advance(0);
    expect(closed.state).toBe('done');
    expect(tools(await events())).toEqual(['a', 'b']);
  });

  test('a store that does not answer holds the end up for five seconds', async () => {
    const { start, clock, storeBehavior, appendAttempts, logged } = createAuditRig();
    const log = start();
    storeBehavior('refuse');
    log.note(createCallEvent());
    await clock.advance(2_000);
    log.note(createCallEvent());
    const closed = watch(log.close());
    await clock.advance(4_999);
    expect(closed.state).toBe('waiting');
    await clock.advance(1_000);
    expect(closed.state).toBe('done');
    expect(logged.at(-1)).toEqual({ event: 'audit_events_lost', fields: { events: 2 } });
    const before = appendAttempts();
    await clock.advance(60_000);
    expect(appendAttempts()).toBe(before);
  });
});
