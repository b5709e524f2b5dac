import { AuditExportQuery, AuditQuery } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AuditEntry } from '../../api/admin.ts';
import { actionLabel, actorLabel, parseAuditEvent, targetLabel } from './auditEvent.ts';
import { filterNames, fromLocalField, readFilters, toLocalField, writeFilters } from './filters.ts';

const read = (query: string) => readFilters(new URLSearchParams(query));

describe('filters in the address', () => {
  test('what an address says is what is asked for', () => {
    const query = 'kind=call&outcome=refused&server=github&code=MCP_TIMEOUT&from=2026-01-31';
    expect(read(query)).toEqual({
      ...{ kind: 'call', outcome: 'refused', server: 'github', code: 'MCP_TIMEOUT' },
      from: '2026-01-31T00:00:00.000Z',
    });
    expect(writeFilters(read(query))).toBe(
      'kind=call&outcome=refused&server=github&code=MCP_TIMEOUT&from=2026-01-31T00%3A00%3A00.000Z',
    );
    expect(writeFilters(read('server=b&kind=call'))).toBe(writeFilters(read('kind=call&server=b')));
  });

  test('what the gateway would refuse is left out', () => {
    const query = `kind=bogus&outcome=&from=yesterday&to=2026-02-30T99&tool=${'x'.repeat(201)}&limit=5&cursor=c&evil=1`;
    expect(read(query)).toEqual({});
    expect(read('server=%20%20')).toEqual({});
    expect(read('from=1&to=9999-12-31T23:59:59-10:00')).toEqual({});
  });

  test('whatever stands in an address, the gateway takes what is made of it', () => {
    const entry = fc.tuple(fc.constantFrom(...filterNames, 'limit', 'other'), fc.string({ maxLength: 230 }));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const params = Object.fromEntries(
          new URLSearchParams(writeFilters(readFilters(new URLSearchParams(entries)))),
        );
        expect(AuditExportQuery.safeParse(params).success).toBe(true);
        expect(AuditQuery.safeParse({ ...params, limit: '100' }).success).toBe(true);
      }),
    );
  });

  test('are shown in local time, and mean the same to everybody', () => {
    const local = toLocalField('2026-01-31T12:34:56.000Z');
    expect(local).toMatch(/^2026-0[12]-\d\dT\d\d:\d\d$/);
    expect(fromLocalField(local)).toBe('2026-01-31T12:34:00.000Z');
    expect([toLocalField(undefined), toLocalField('never'), fromLocalField('')]).toEqual(['', '', '']);
  });
});

describe('an event', () => {
  const event = {
    ...{ id: 'w:1:0', at: 5, kind: 'call', action: 'tool.call', outcome: 'refused' },
    ...{ actor: { kind: 'user', id: 'u1', by: 'session' }, server: 'github', tool: 'search', durationMs: 12 },
  } as AuditEntry;

  test('one that was spoilt in the store says so, and nothing of it is believed', () => {
    expect(parseAuditEvent({ id: 'w:1:0', unreadable: true })).toBeUndefined();
    const odd = {
      ...event,
      actor: null,
      code: { a: 1 },
      scopes: ['s', 3],
      outcome: 'fine',
      durationMs: '9',
    };
    expect(parseAuditEvent(odd as unknown as AuditEntry)).toMatchObject({
      ...{ actor: { kind: '', id: '', by: '' }, code: '', scopes: ['s'], outcome: undefined },
      durationMs: undefined,
    });
  });

  test('is told in words, by name where the name is known', () => {
    const view = parseAuditEvent(event)!;
    expect(actionLabel(view.action)).toBe('Called a tool');
    expect([actionLabel('new.thing'), actionLabel('constructor')]).toEqual(['new.thing', 'constructor']);
    expect(actorLabel(view.actor, new Map([['u1', 'Ada']]))).toBe('Ada');
    expect(actorLabel(view.actor, new Map())).toBe('u1');
    expect(actorLabel({ kind: 'gateway', id: '', by: '' }, new Map())).toBe('Gateway');
    expect(actorLabel({ kind: 'toString', id: '', by: '' }, new Map())).toBe('toString');
    const known = new Map([['u2', 'Grace']]);
    expect(targetLabel(view, known, new Map())).toBe('github · search');
    expect(targetLabel(view, known, new Map([['github', 'GitHub']]))).toBe('GitHub · search');
    const about = (subject: string) =>
      targetLabel({ ...view, server: '', tool: '', subject }, known, new Map());
    expect([about('Integrator'), about('u2')]).toEqual(['Integrator', 'Grace']);
  });
});
