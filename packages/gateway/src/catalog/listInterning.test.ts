import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { held, incomplete, listed, namesIn, own, server, setUp } from '../../test/catalogRig.ts';

describe('the lists that are kept', () => {
  test('equal lists of different users are one object', async () => {
    const { load } = setUp();
    const [anna, ben, carl] = await Promise.all([
      load(own, 'anna', listed('a b')),
      load(own, 'ben', listed('a b')),
      load(own, 'carl', listed('a')),
    ]);
    expect(anna).toBe(ben);
    expect(anna).not.toBe(carl);
  });

  test('the longest unused go when there are too many', async () => {
    const { catalog, load } = setUp({ maxLists: 10 });
    const few = server('user', 'few');
    await load(few, 'anna', listed('x'));
    for (let i = 0; i < 9; i += 1) await load(own, `u${i}`, listed('a'));
    await load(own, 'first', listed('a'));
    for (let i = 0; i < 50; i += 1) {
      catalog.peek(own, 'first');
      await load(own, `v${i}`, listed('a'));
    }
    expect(catalog.size).toBe(10);
    expect(namesIn(catalog.peek(own, 'first'))).toBe('a');
    // A crowd at one server takes nothing from another.
    expect(namesIn(catalog.peek(few, 'anna'))).toBe('x');
  });

  test('lists take a bounded room together; the longest unused of the largest server goes', async () => {
    const { catalog, load } = setUp({ bytes: 100_000 });
    const few = server('user', 'few');
    const large = (name: string) => ({
      ...listed(''),
      items: [{ name, description: 'x'.repeat(20_000) }],
    });
    await load(few, 'anna', large('x'));
    await load(own, 'first', large('first'));
    await load(own, 'idle', large('idle'));
    for (let i = 0; i < 20; i += 1) {
      catalog.peek(own, 'first');
      expect(namesIn(await load(own, `u${i}`, large(`t${i}`)))).toBe(`t${i}`);
    }
    const known = ['first', 'idle', ...Array.from({ length: 20 }, (_, i) => `u${i}`)].filter((user) =>
      catalog.peek(own, user),
    );
    expect(known.length).toBeLessThan(5);
    expect(known).toEqual(expect.arrayContaining(['first', 'u19']));
    expect(namesIn(catalog.peek(few, 'anna'))).toBe('x');
    // What was put out is asked for again.
    expect(namesIn(await load(own, 'idle', large('again')))).toBe('again');
    // Brackets are short as text and large in memory.
    const hollow = { ...listed(''), items: [{ name: 'h', x: Array.from({ length: 3_000 }, () => []) }] };
    await load(own, 'hollow', hollow);
    expect(known.filter((user) => catalog.peek(own, user))).toEqual([]);
  });

  test('a list that nothing can write out is the server’s failure', async () => {
    const { catalog, load } = setUp();
    let deep: unknown = [];
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    const answer = { ...listed(''), items: [{ name: 'a', inputSchema: { deep } }] };
    await expect(load(own, 'anna', answer)).rejects.toMatchObject({ reason: 'garbage' });
    expect(catalog.peek(own, 'anna')).toBeUndefined();
  });

  test('a list that was shown to nobody in particular stands in for none, and for nothing else', async () => {
    const { clock, catalog, signal, load } = setUp();
    const bare = (names: string) =>
      catalog.load(own, 'anna', async () => listed(names), { signal, onlyIfUnknown: true });
    await load(own, 'anna', listed('mine'));
    await clock.advance(600_000);
    expect(namesIn(await bare('bare'))).toBe('mine');
    expect(namesIn(catalog.peek(own, 'anna'))).toBe('mine');
    catalog.invalidate('srv', 'anna');
    expect(namesIn(await bare('bare'))).toBe('bare');
    expect([namesIn(catalog.peek(own, 'anna')), catalog.isStale(own, 'anna')]).toEqual(['bare', true]);
    // Any other replaces it, at once, whole or not.
    expect(namesIn(await load(own, 'anna', listed('half', incomplete), 'if-old'))).toBe('half');
  });

  test('one that lands between is no obstacle for a listing under way, and no reconnect is missed', async () => {
    const { catalog, signal } = setUp();
    const { asked, list } = held();
    const waiting = catalog.load(own, 'anna', list, { signal });
    await catalog.load(own, 'anna', async () => listed('bare'), { signal, onlyIfUnknown: true });
    asked[0]?.land('mine');
    expect(namesIn(await waiting)).toBe('mine');
    expect(namesIn(catalog.peek(own, 'anna'))).toBe('mine');
    const late = held();
    const loading = catalog.load(own, 'ben', late.list, { signal, onlyIfUnknown: true });
    catalog.invalidate('srv');
    late.asked[0]?.land('bare');
    expect(namesIn(await loading)).toBe('bare');
    expect(catalog.peek(own, 'ben')).toBeUndefined();
  });

  test('an idle user costs less than 300 bytes', async () => {
    const collect = collector();
    const { catalog, load } = setUp();
    const answer = listed('a b c');
    const users = Array.from({ length: 9_000 }, (_, i) => `["default","65f0c0ffee65f0c0ffee${i}"]`);
    await load(own, 'warm', answer);
    const before = collect();
    for (const user of users) await load(own, user, answer);
    const each = (collect() - before) / users.length;
    expect(catalog.size).toBe(9_001);
    expect(each).toBeLessThan(300);
  });
});

/** The heap in use, after everything that can go has gone. */
function collector(): () => number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  return () => {
    gc();
    gc();
    return process.memoryUsage().heapUsed;
  };
}
