import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createCallEvent, createAuditRig, yieldNow, type AuditRig } from '../../test/auditRig.ts';
import type { AuditEvent } from './audit.ts';
import {
  type AuditEventFilters,
  type AuditLogEntry,
  type FoundEvent,
  exportAudit,
  queryAudit,
} from './readAudit.ts';

const read = ({ store }: AuditRig, filters: AuditEventFilters = {}, tenant = 'default') =>
  queryAudit({ store, yieldToEventLoop: yieldNow }, { tenant, filters, limit: 1_000 });

/** Page after page to the end. */
async function readAllPages(
  { store }: AuditRig,
  tenant: string,
  limit: number,
  filters: AuditEventFilters = {},
) {
  const found: AuditLogEntry[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const { events, next } = await queryAudit(
      { store, yieldToEventLoop: yieldNow },
      { tenant, filters, limit, cursor },
    );
    expect(events.length).toBeLessThanOrEqual(limit);
    found.push(...events);
    cursor = next;
    pages += 1;
  } while (cursor !== undefined);
  return { found: found as FoundEvent[], pages };
}

async function exported({ store }: AuditRig, tenant: string, filters: AuditEventFilters = {}) {
  let text = '';
  for await (const piece of exportAudit({ store, yieldToEventLoop: yieldNow }, { tenant, filters }))
    text += piece;
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as FoundEvent);
}

const tools = (events: readonly AuditLogEntry[]) =>
  events.map((event) => ('tool' in event ? event.tool : event));

describe('reading the audit log', () => {
  test('all that is asked for must fit', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    const events: Partial<AuditEvent>[] = [
      { tool: 'a', server: 'github', outcome: 'ok', actor: { kind: 'user', id: 'ada' }, request: 'r1' },
      { tool: 'b', server: 'github', outcome: 'refused', code: 'MCP_FORBIDDEN' },
      { tool: 'c', server: 'slack', kind: 'config', action: 'server.change' },
    ];
    for (const event of events) {
      await log.record(createCallEvent(event));
      await rig.clock.advance(1_000);
    }
    const startedAt = (await rig.events())[0]!.at;
    const cases: [AuditEventFilters, string[]][] = [
      [{}, ['c', 'b', 'a']],
      [{ kind: 'config' }, ['c']],
      [{ action: 'tool.call' }, ['b', 'a']],
      [{ actor: 'ada' }, ['a']],
      [{ server: 'github' }, ['b', 'a']],
      [{ server: 'github', outcome: 'ok' }, ['a']],
      [{ tool: 'b' }, ['b']],
      [{ outcome: 'refused' }, ['b']],
      [{ code: 'MCP_FORBIDDEN' }, ['b']],
      [{ request: 'r2' }, []],
      [{ from: startedAt + 1 }, ['c', 'b']],
      [{ to: startedAt + 1_000 }, ['b', 'a']],
      [{ from: startedAt + 1, to: startedAt + 1_999 }, ['b']],
    ];
    for (const [filters, expected] of cases) {
      expect([filters, tools((await read(rig, filters)).events)]).toEqual([filters, expected]);
      expect([filters, tools(await exported(rig, 'default', filters))]).toEqual([filters, expected]);
    }
    // Within one segment too.
    const at = rig.clock.now();
    log.note(createCallEvent({ tool: 'd' }));
    await rig.clock.advance(300);
    log.note(createCallEvent({ tool: 'e' }));
    await rig.clock.advance(1_000);
    expect(tools((await read(rig, { from: at, to: at })).events)).toEqual(['d']);
    expect(tools((await read(rig, { from: at + 1 })).events)).toEqual(['e']);
  });

  test('nobody reads another tenant’s, whatever was written and asked', async () => {
    const tenants = ['a', 'b', 'a\n', 'ab', ''];
    const planned = fc.array(
      fc.record({
        tenant: fc.constantFrom(...tenants),
        server: fc.constantFrom('x', '"tenant":"a"', 'y'),
        pause: fc.constantFrom(0, 400, 1_000),
      }),
      { maxLength: 30 },
    );
    const filter = fc.record({ server: fc.constantFrom('x', 'y') }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(planned, filter, fc.integer({ min: 1, max: 7 }), async (plan, filters, limit) => {
        const rig = createAuditRig();
        const log = rig.start();
        for (const [i, { tenant, server, pause }] of plan.entries()) {
          log.note(createCallEvent({ tenant, server, tool: `t${i}` }));
          if (pause > 0) await rig.clock.advance(pause);
        }
        await log.close();
        for (const tenant of tenants) {
          const expected = plan
            .map((event, i) => ({ ...event, tool: `t${i}` }))
            .filter((event) => event.tenant === tenant && (filters.server ?? event.server) === event.server)
            .map(({ tool }) => tool)
            .reverse();
          expect(tools((await readAllPages(rig, tenant, limit, filters)).found)).toEqual(expected);
          expect(tools(await exported(rig, tenant, filters))).toEqual(expected);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('a walk sees everything once, of several writers and while more comes', async () => {
    const rig = createAuditRig();
    const logs = [rig.start(), rig.start(), rig.start()];
    const written: string[] = [];
    for (let i = 0; i < 60; i += 1) {
      const tool = `t${i}`;
      written.push(tool);
      logs[i % 3]!.note(createCallEvent({ tool }));
      if (i % 7 === 0) await rig.clock.advance(500);
    }
    await rig.clock.advance(2_000);
    for (const limit of [1, 3, 10, 1_000]) {
      const { found, pages } = await readAllPages(rig, 'default', limit);
      expect(tools(found).sort()).toEqual([...written].sort());
      expect(new Set(found.map(({ id }) => id)).size).toBe(60);
      expect(pages).toBeLessThanOrEqual(Math.ceil(60 / limit) + 1);
    }
    const parts = { store: rig.store, yieldToEventLoop: yieldNow };
    const query = { tenant: 'default', filters: {}, limit: 25 };
    const first = await queryAudit(parts, query);
    await logs[0]!.record(createCallEvent({ tool: 'newer' }));
    const second = await queryAudit(parts, { ...query, limit: 1_000, cursor: first.next });
    expect([...tools(first.events), ...tools(second.events)].sort()).toEqual([...written].sort());
  });

  test('one request reads a bounded part, and says where to go on', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    for (let i = 0; i < 1_100; i += 1)
      await log.record(createCallEvent({ tool: i === 0 ? 'needle' : 'hay' }));
    const query = { tenant: 'default', filters: { tool: 'needle' }, limit: 10 };
    const first = await queryAudit({ store: rig.store, yieldToEventLoop: yieldNow }, query);
    expect(first).toEqual({ events: [], next: expect.any(String) });
    const { found, pages } = await readAllPages(rig, 'default', 10, { tool: 'needle' });
    expect(tools(found)).toEqual(['needle']);
    expect(pages).toBe(3);
  });

  test('a cursor that is none of ours is refused', async () => {
    const { store } = createAuditRig();
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const wrong = [
      '',
      'x',
      encode(null),
      encode([]),
      encode({}),
      encode(['w', 1, 1]),
      encode(['w', 1, 1, 1, 1]),
    ];
    wrong.push(encode(["w' OR 1", 1, 1, 1]), encode(['w', -1, 1, 1]), encode(['w', 1.5, 1, 1]));
    wrong.push(encode(['w', 1, '1', 1]), encode(['w', 1, 1, null]), encode([{ $gt: '' }, 1, 1, 1]));
    for (const cursor of wrong) {
      await expect(
        queryAudit(
          { store, yieldToEventLoop: yieldNow },
          { tenant: 'default', filters: {}, limit: 1, cursor },
        ),
      ).rejects.toMatchObject({ code: 'REQUEST_INVALID', errors: [{ path: 'cursor' }] });
    }
    const expiredCursor = encode(['w', 1, 1, 5]);
    expect(
      await queryAudit(
        { store, yieldToEventLoop: yieldNow },
        { tenant: 'default', filters: {}, limit: 1, cursor: expiredCursor },
      ),
    ).toEqual({ events: [] });
  });

  test('a line that was spoilt is shown as such, the others as they are', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    log.note(createCallEvent({ tool: 'a' }));
    log.note(createCallEvent({ tool: 'b' }));
    await log.close();
    const [segment] = await rig.segments();
    const [a, b] = segment!.events.split('\n');
    await rig.tamper(segment!.id, { events: [a, '{"tenant":"default"', 'null', b].join('\n') });
    const marks = [2, 1].map((line) => ({ id: `${segment!.id}:${line}`, unreadable: true }));
    expect(tools((await read(rig)).events)).toEqual(['b', ...marks, 'a']);
    expect(tools(await exported(rig, 'default'))).toEqual(['b', ...marks, 'a']);
    await rig.tamper(segment!.id, { events: '' });
    expect(await read(rig)).toEqual({ events: [] });
  });

  test('what nobody takes is not read', async () => {
    const rig = createAuditRig();
    const log = rig.start();
    for (let i = 0; i < 100; i += 1) await log.record(createCallEvent());
    let read = 0;
    const page: typeof rig.store.page = (range, limit) => {
      read += limit;
      return rig.store.page(range, limit);
    };
    const store = { ...rig.store, page };
    const pieces = exportAudit({ store, yieldToEventLoop: yieldNow }, { tenant: 'default', filters: {} });
    expect(read).toBe(0);
    await pieces.next();
    expect(read).toBeLessThan(20);
    await pieces.return();
    expect((await pieces.next()).done).toBe(true);
    expect(read).toBeLessThan(20);
  });
});
