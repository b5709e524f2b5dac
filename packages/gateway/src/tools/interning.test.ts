import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import {
  createCatalogRig,
  createListed,
  createPendingLists,
  createServer,
  incomplete,
  joinToolNames,
  userServer,
} from '../../test/catalogRig.ts';

describe('the lists that are kept', () => {
  test('equal lists of different users are one object', async () => {
    const { load } = createCatalogRig();
    const [anna, ben, carl] = await Promise.all([
      load(userServer, 'anna', createListed('a b')),
      load(userServer, 'ben', createListed('a b')),
      load(userServer, 'carl', createListed('a')),
    ]);
    expect(anna).toBe(ben);
    expect(anna).not.toBe(carl);
  });

  test('the longest unused go when there are too many', async () => {
    const { catalog, load } = createCatalogRig({ maxLists: 10 });
    const few = createServer('user', 'few');
    await load(few, 'anna', createListed('x'));
    for (let i = 0; i < 9; i += 1) await load(userServer, `u${i}`, createListed('a'));
    await load(userServer, 'first', createListed('a'));
    for (let i = 0; i < 50; i += 1) {
      catalog.peek(userServer, 'first');
      await load(userServer, `v${i}`, createListed('a'));
    }
    expect(catalog.size).toBe(10);
    expect(joinToolNames(catalog.peek(userServer, 'first'))).toBe('a');
    // A crowd at one server takes nothing from another.
    expect(joinToolNames(catalog.peek(few, 'anna'))).toBe('x');
  });

  test('lists take a bounded room together; the longest unused of the largest server goes', async () => {
    const { catalog, load } = createCatalogRig({ bytes: 100_000 });
    const few = createServer('user', 'few');
    const large = (name: string) => ({
      ...createListed(''),
      items: [{ name, description: 'x'.repeat(20_000) }],
    });
    await load(few, 'anna', large('x'));
    await load(userServer, 'first', large('first'));
    await load(userServer, 'idle', large('idle'));
    for (let i = 0; i < 20; i += 1) {
      catalog.peek(userServer, 'first');
      expect(joinToolNames(await load(userServer, `u${i}`, large(`t${i}`)))).toBe(`t${i}`);
    }
    const known = ['first', 'idle', ...Array.from({ length: 20 }, (_, i) => `u${i}`)].filter((user) =>
      catalog.peek(userServer, user),
    );
    expect(known.length).toBeLessThan(5);
    expect(known).toEqual(expect.arrayContaining(['first', 'u19']));
    expect(joinToolNames(catalog.peek(few, 'anna'))).toBe('x');
    // What was put out is asked for again.
    expect(joinToolNames(await load(userServer, 'idle', large('again')))).toBe('again');
    // Brackets are short as text and large in memory.
    const hollow = {
      ...createListed(''),
      items: [{ name: 'h', x: Array.from({ length: 3_000 }, () => []) }],
    };
    await load(userServer, 'hollow', hollow);
    expect(known.filter((user) => catalog.peek(userServer, user))).toEqual([]);
  });

  test('a list that nothing can write out is the server’s failure', async () => {
    const { catalog, load } = createCatalogRig();
    let deep: unknown = [];
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    const answer = { ...createListed(''), items: [{ name: 'a', inputSchema: { deep } }] };
    await expect(load(userServer, 'anna', answer)).rejects.toMatchObject({ reason: 'invalid_response' });
    expect(catalog.peek(userServer, 'anna')).toBeUndefined();
  });

  test('a list that was shown to nobody in particular stands in for none, and for nothing else', async () => {
    const { clock, catalog, signal, load } = createCatalogRig();
    const bare = (names: string) =>
      catalog.load(userServer, 'anna', async () => createListed(names), { signal, onlyIfUnknown: true });
    await load(userServer, 'anna', createListed('mine'));
    await clock.advance(600_000);
    expect(joinToolNames(await bare('bare'))).toBe('mine');
    expect(joinToolNames(catalog.peek(userServer, 'anna'))).toBe('mine');
    catalog.invalidate('srv', 'anna');
    expect(joinToolNames(await bare('bare'))).toBe('bare');
    expect([joinToolNames(catalog.peek(userServer, 'anna')), catalog.isStale(userServer, 'anna')]).toEqual([
      'bare',
      true,
    ]);
    // Any other replaces it, at once, whole or not.
    expect(joinToolNames(await load(userServer, 'anna', createListed('half', incomplete), 'if-old'))).toBe(
      'half',
    );
  });

  test('one that lands between is no obstacle for a listing under way, and no reconnect is missed', async () => {
    const { catalog, signal } = createCatalogRig();
    const { pendingLists, startList } = createPendingLists();
    const waiting = catalog.load(userServer, 'anna', startList, { signal });
    await catalog.load(userServer, 'anna', async () => createListed('bare'), { signal, onlyIfUnknown: true });
    pendingLists[0]?.resolve('mine');
    expect(joinToolNames(await waiting)).toBe('mine');
    expect(joinToolNames(catalog.peek(userServer, 'anna'))).toBe('mine');
    const late = createPendingLists();
    const loading = catalog.load(userServer, 'ben', late.startList, { signal, onlyIfUnknown: true });
    catalog.invalidate('srv');
    late.pendingLists[0]?.resolve('bare');
    expect(joinToolNames(await loading)).toBe('bare');
    expect(catalog.peek(userServer, 'ben')).toBeUndefined();
  });

  test('an idle user costs less than 300 bytes', async () => {
    const collect = collector();
    const { catalog, load } = createCatalogRig();
    const answer = createListed('a b c');
    const users = Array.from({ length: 9_000 }, (_, i) => `["default","65f0c0ffee65f0c0ffee${i}"]`);
    await load(userServer, 'warm', answer);
    const before = collect();
    for (const user of users) await load(userServer, user, answer);
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
