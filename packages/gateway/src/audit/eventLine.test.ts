import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dumpStore } from '../../test/identityRig.ts';
import { createCallEvent, createAuditRig } from '../../test/auditRig.ts';
import type { AuditEvent } from './audit.ts';
import { formatEventLine, parseEventLine } from './segment.ts';

const SECRET = 'sk-planted-secret';

describe('what is written of an event', () => {
  test('a secret on an event object reaches neither store nor reader', async () => {
    const { start, primary, store, events } = createAuditRig();
    const log = start();
    const event = createCallEvent() as unknown as Record<string, unknown>;
    const planted = {
      ...event,
      token: SECRET,
      actor: { kind: 'user', id: 'u1', token: SECRET, by: { via: SECRET } },
      server: { name: 'github', headers: { authorization: SECRET } },
      arguments: { query: SECRET },
      scopes: [{ value: SECRET }, 'repo'],
      durationMs: { value: SECRET },
      toJSON: () => ({ token: SECRET }),
    };
    await log.record(planted as unknown as AuditEvent);
    expect(await dumpStore(primary)).not.toContain(SECRET);
    expect(await events()).toMatchObject([{ actor: { kind: 'user', id: 'u1' }, scopes: ['repo'] }]);

    // Nor does a row that was changed in the store show more than an event has.
    const [segment] = await store.page({}, 1);
    const row = JSON.parse(segment!.events) as object;
    const changed = { ...row, token: SECRET, actor: { id: 'u1', token: SECRET } };
    await primary.raw.put('audit', [{ ...segment!, events: JSON.stringify(changed) }]);
    expect(JSON.stringify(await events())).not.toContain(SECRET);
    expect(await events()).toHaveLength(1);
  });

  test('every field of an event comes back as it was', () => {
    const event: Required<AuditEvent> = {
      ...(createCallEvent() as Required<AuditEvent>),
      ...{ code: 'FORBIDDEN', serverId: 's1', subject: 'role', changed: ['USE'], count: 3 },
    };
    expect(parseEventLine(formatEventLine(event, 5))).toEqual({ ...event, at: 5 });
  });

  test('texts are short and on one line, names are few', () => {
    const hostile = createCallEvent({
      tool: `a\u0000b\r\nc\u001b[31md\u202ee${'x'.repeat(500)}`,
      arguments: Array.from({ length: 60 }, (_, i) => `n${i}`),
      tenant: 't'.repeat(300),
    });
    const line = formatEventLine(hostile, 1);
    const fields = parseEventLine(line)!;
    expect(fields.tool).toMatch(/^abc\[31mdex+…$/);
    expect(fields.tool!.length).toBeLessThanOrEqual(200);
    expect(fields.arguments).toHaveLength(51);
    expect(fields.arguments!.at(-1)).toBe('… and 10 more');
    // Cut to the same length, two tenants would read each other's.
    expect(fields.tenant).toHaveLength(300);
    expect(line).not.toMatch(/[\r\n]/);
  });

  test('a line is JSON whatever the texts are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
        const names = {
          tool: text,
          tenant: text,
          arguments: [text],
          actor: { kind: 'user' as const, id: text },
        };
        const line = formatEventLine(createCallEvent(names), 1);
        expect(line).not.toMatch(/[\r\n]/);
        const clean = (parseEventLine(line)?.tool ?? '').length;
        expect(clean).toBeLessThanOrEqual(text.length);
        expect(parseEventLine(line)).toMatchObject({ tenant: text, outcome: 'ok', request: 'r1' });
        if (/^[\p{L}\p{P}\p{N}\p{S} ]*$/u.test(text)) expect(parseEventLine(line)).toMatchObject(names);
      }),
    );
  });

  test('what is no line of ours is none', () => {
    for (const line of ['', '{', 'null', '1', '[]', '{}', '{"at":1}', '{"at":"1","tenant":"a","actor":{}}']) {
      expect([line, parseEventLine(line)]).toEqual([line, null]);
    }
    expect(parseEventLine('{"at":1,"tenant":"a","actor":null}')).toBeNull();
  });
});
