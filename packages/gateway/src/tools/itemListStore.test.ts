import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createServer, userServer } from '../../test/catalogRig.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { ItemList } from '../upstream/listAll.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { createItemListCache } from './itemLists.ts';

const method = 'resources/list';
const few = createServer('user', 'few');

function resources(uri: string, description = ''): ItemList {
  return { items: [{ uri, name: uri, description }], complete: true, era: 'legacy', ttlMs: 7 };
}

function setUp(limits: { lists?: number; bytes?: number; bytesPerServer?: number } = {}) {
  const clock = createFakeClock();
  const listings = createItemListCache({ clock, limits });
  let requestCount = 0;
  return {
    ...{ clock, listings },
    load: (of: ServerSnapshot, holder: string, listed: ItemList) =>
      listings.load(of, holder, method, () => Promise.resolve(listed)),
    /** Whether a list is still shown without asking for it. */
    isShown: async (of: ServerSnapshot, holder: string) => {
      const before = requestCount;
      const probe = () => {
        requestCount += 1;
        return Promise.reject(new Error('asked'));
      };
      await listings.load(of, holder, method, probe).catch(() => undefined);
      return requestCount === before;
    },
    last: (of: ServerSnapshot, holder: string) => listings.peekLast(of, holder, method),
  };
}

const users = Array.from({ length: 20 }, (_, index) => `u${index}`);
const large = 'x'.repeat(20_000);

describe('kept lists of resources and prompts', () => {
  test('in all: of the server that has the most', async () => {
    const { load, isShown } = setUp({ bytes: 100_000 });
    await load(few, 'anna', resources('x:few', large));
    for (const user of users) await load(userServer, user, resources(`x:${user}`, large));
    const shown = [];
    for (const user of users) if (await isShown(userServer, user)) shown.push(user);
    expect(shown).toEqual(['u17', 'u18', 'u19']);
    expect(await isShown(few, 'anna')).toBe(true);
  });

  test('of one server: its own go, and nothing of others', async () => {
    const { load, isShown } = setUp({ bytesPerServer: 50_000 });
    for (const user of users) await load(few, user, resources(`x:${user}`, 'little'));
    for (const user of users) await load(userServer, user, resources(`x:${user}`, large));
    const shown = [];
    for (const user of users) if (await isShown(userServer, user)) shown.push(user);
    expect(shown).toEqual(['u18', 'u19']);
    for (const user of users) expect(await isShown(few, user)).toBe(true);
  });

  test('what alone is too large is asked for each time', async () => {
    const { load, isShown, last } = setUp({ bytesPerServer: 50_000 });
    const listed = resources('x:whole', large.repeat(3));
    expect(await load(userServer, 'anna', listed)).toBe(listed);
    expect(await isShown(userServer, 'anna')).toBe(false);
    expect(last(userServer, 'anna')?.items).toEqual([{ uri: 'x:whole', name: 'x:whole' }]);
    // Brackets are short as text and large in memory.
    const nested: JsonObject = { uri: 'x:n', deep: Array.from({ length: 5_000 }, () => []) };
    await load(userServer, 'ben', { ...resources('x:n'), items: [nested] });
    expect(await isShown(userServer, 'ben')).toBe(false);
    // So are addresses: of these nothing is left.
    await load(userServer, 'carl', resources(`x:${large.repeat(2)}`));
    expect(last(userServer, 'carl')).toBeUndefined();
  });

  test('and in number: a crowd at one server takes nothing of another', async () => {
    const { load, isShown, last } = setUp({ lists: 10 });
    await load(few, 'anna', resources('x:few'));
    await load(userServer, 'first', resources('x:first'));
    for (const user of users) {
      expect(last(userServer, 'first')).toBeDefined();
      await load(userServer, user, resources(`x:${user}`));
    }
    expect(await isShown(few, 'anna')).toBe(true);
    expect(await isShown(userServer, 'first')).toBe(true);
    expect(await isShown(userServer, 'u11')).toBe(false);
    expect(await isShown(userServer, 'u12')).toBe(true);
  });

  test('when it is asked for again, or said to have changed', async () => {
    const { clock, listings, load, isShown, last } = setUp();
    const known = { items: [{ uri: 'x:a', name: 'x:a' }], complete: true, era: 'legacy' };
    await load(userServer, 'anna', resources('x:a', large));
    await load(userServer, 'ben', resources('x:a', large));
    expect(last(userServer, 'anna')).toMatchObject({ ttlMs: 7 });
    await clock.advance(30_000);
    expect(await isShown(userServer, 'anna')).toBe(false);
    expect(last(userServer, 'anna')).toEqual(known);
    await load(userServer, 'ben', resources('x:a', large));
    listings.expire(userServer.id, 'ben');
    expect(last(userServer, 'ben')).toEqual(known);
    listings.invalidate(userServer.id, 'ben');
    expect(last(userServer, 'ben')).toBeUndefined();
    expect(last(userServer, 'anna')).toEqual(known);
  });

  test('before another one has to go', async () => {
    const { clock, load, last } = setUp({ bytes: 100_000 });
    for (const user of users.slice(0, 4)) await load(userServer, user, resources(`x:${user}`, large));
    await clock.advance(30_000);
    for (const user of users.slice(4, 8)) await load(few, user, resources(`x:${user}`, large));
    for (const user of users.slice(0, 4)) expect(last(userServer, user)?.items).toHaveLength(1);
    for (const user of users.slice(4, 8)) expect(last(few, user)).toMatchObject({ ttlMs: 7 });
  });

  test('by what is said of another server or to another user', async () => {
    const { listings, isShown } = setUp();
    async function during(say: () => void): Promise<boolean> {
      listings.invalidate(userServer.id);
      await listings.load(userServer, 'anna', method, () => {
        say();
        return Promise.resolve(resources('x:a'));
      });
      return isShown(userServer, 'anna');
    }
    for (const trigger of ['expire', 'invalidate'] as const) {
      expect(await during(() => listings[trigger](few.id))).toBe(true);
      expect(await during(() => listings[trigger](userServer.id, 'ben'))).toBe(true);
      expect(await during(() => listings[trigger](userServer.id, 'anna'))).toBe(false);
      expect(await during(() => listings[trigger](userServer.id))).toBe(false);
    }
  });
});
