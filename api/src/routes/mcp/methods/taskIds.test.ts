import { createKeyring, systemRandom } from '@behalf/kernel';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createTaskIds } from './tasks.ts';

const ann = aPrincipal();
const DAY = 24 * 3_600_000;
const task = {
  server: 'files',
  serverId: 's1',
  targetFingerprint: 'there',
  tool: 'slow',
  id: 'own',
  ttlMs: null,
};

describe('the id of a task', () => {
  const begin = () => {
    const clock = createFakeClock();
    return {
      clock,
      ids: createTaskIds({ keyring: createKeyring([systemRandom.bytes(32)], systemRandom), clock }),
    };
  };

  test('lasts as long as its task, between a day and thirty', async () => {
    for (const [ttlMs, lasts] of [
      [1_000, DAY],
      [-5, DAY],
      [3 * DAY, 3 * DAY],
      [null, 30 * DAY],
      [1_000 * DAY, 30 * DAY],
    ] as const) {
      const { clock, ids } = begin();
      const id = ids.seal(ann, '/mcp', { ...task, ttlMs });
      await clock.advance(lasts - 1);
      expect(ids.open(ann, '/mcp', id)).toMatchObject({ id: 'own' });
      await clock.advance(1);
      expect(() => ids.open(ann, '/mcp', id)).toThrow('No such task');
    }
  });

  test('is of one tenant, user, issuer and endpoint', () => {
    const { ids } = begin();
    const id = ids.seal(ann, '/mcp', { ...task, credential: 'work' });
    const { ttlMs: _, ...named } = task;
    expect(ids.open(ann, '/mcp', id)).toEqual({ ...named, credential: 'work' });
    for (const [by, endpoint] of [
      [{ ...ann, userId: 'other' }, '/mcp'],
      [{ ...ann, tenant: 'other' }, '/mcp'],
      [{ ...ann, issuer: 'other' }, '/mcp'],
      [ann, '/mcp/files'],
    ] as const)
      expect(() => ids.open(by, endpoint, id)).toThrow('No such task');
    for (const none of [undefined, 7, '', 'v1', `${id}A`, `${id}.`])
      expect(() => ids.open(ann, '/mcp', none)).toThrow('No such task');
  });

  test('fits a header, or the server is at fault', () => {
    const { ids } = begin();
    expect(ids.seal(ann, '/mcp', { ...task, id: 'x'.repeat(2_048) })).toMatch(/^[\w.-]{1,4096}$/);
    expect(() => ids.seal(ann, '/mcp', { ...task, id: '\u0001'.repeat(2_048) })).toThrow();
  });
});
