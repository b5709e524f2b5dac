import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  createCatalogRig,
  createListed,
  createPendingLists,
  createServer,
  incomplete,
  joinToolNames,
  userServer,
} from '../../test/catalogRig.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const down = new UpstreamError('connect_failed');

describe('what is known of the tools', () => {
  test('those who ask together share one listing, and leave alone', async () => {
    const { catalog, signal } = createCatalogRig();
    const { pendingLists, startList } = createPendingLists();
    const impatient = new AbortController();
    const leaving = catalog.load(appServer, '', startList, { signal: impatient.signal });
    const staying = catalog.load(appServer, '', startList, { signal });
    impatient.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    pendingLists[0]?.resolve('a');
    expect(joinToolNames(await staying)).toBe('a');
    expect(pendingLists).toHaveLength(1);
    expect(catalog.peek(appServer, '')).toBe(await staying);
    await expect(catalog.load(appServer, '', startList, { signal: impatient.signal })).rejects.toThrow(
      'gone',
    );
  });

  test('a listing that everybody left still becomes known', async () => {
    const { clock, catalog } = createCatalogRig();
    const { pendingLists, startList } = createPendingLists();
    const impatient = new AbortController();
    const leaving = catalog.load(appServer, '', startList, { signal: impatient.signal });
    impatient.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    pendingLists[0]?.resolve('a');
    await clock.advance(0);
    expect(joinToolNames(catalog.peek(appServer, ''))).toBe('a');
  });

  test('what one user sees of a server is never shown to another', async () => {
    const { catalog, load, loadCount } = createCatalogRig();
    // A server may claim that its list is everybody's; of one that gets users' own credentials it is not believed.
    const claims = { era: 'modern', ttlMs: 60_000, cacheScope: 'public' } as const;
    await load(userServer, 'anna', createListed('a secret_project', claims));
    expect(catalog.peek(userServer, 'ben')).toBeUndefined();
    expect(joinToolNames(await load(userServer, 'ben', createListed('b', claims)))).toBe('b');
    expect(joinToolNames(catalog.peek(userServer, 'anna'))).toBe('a secret_project');
    expect(loadCount()).toBe(2);
    expect(() => catalog.peek(userServer, '')).toThrow(TypeError);
    await expect(load(userServer, '', createListed('x'))).rejects.toThrow(TypeError);
  });

  test('a shared server has one list, and another of the same name its own', async () => {
    const { catalog, load, loadCount } = createCatalogRig();
    await load(appServer, 'anna', createListed('a'));
    expect(joinToolNames(await load(appServer, 'ben', createListed('b')))).toBe('a');
    expect(loadCount()).toBe(1);
    const otherTenant = { ...appServer, tenant: 'other' } as ServerSnapshot;
    expect(catalog.peek(otherTenant, '')).toBeUndefined();
    const turned = createServer('user');
    expect(catalog.peek(turned, 'anna')).toBeUndefined();
  });

  test('half a list never replaces a whole one, and an empty whole one does', async () => {
    const { clock, catalog, load } = createCatalogRig();
    await load(appServer, '', createListed('a b c'));
    expect(joinToolNames(await load(appServer, '', createListed('a', incomplete), true))).toBe('a b c');
    expect(joinToolNames(catalog.peek(appServer, ''))).toBe('a b c');
    await clock.advance(60_000);
    expect(joinToolNames(await load(appServer, '', createListed(''), true))).toBe('');
    expect(catalog.peek(appServer, '')?.tools).toEqual([]);
  });

  test('half a list is better than none, says so, and is asked for again', async () => {
    const { clock, load, loadCount } = createCatalogRig();
    const half = await load(appServer, '', createListed('a', incomplete));
    expect([joinToolNames(half), half.complete, half.incomplete]).toEqual(['a', false, 'failed']);
    await clock.advance(1_000);
    await load(appServer, '', createListed('a b'));
    await clock.advance(2_000);
    expect([joinToolNames(await load(appServer, '', createListed('c'))), loadCount()]).toEqual(['a b', 2]);
  });

  test('an older answer that lands last does not win', async () => {
    const { catalog, signal } = createCatalogRig();
    const { pendingLists, startList } = createPendingLists();
    const first = catalog.load(appServer, '', startList, { signal, refresh: true });
    const second = catalog.load(appServer, '', startList, { signal, refresh: true });
    pendingLists[1]?.resolve('new');
    expect(joinToolNames(await second)).toBe('new');
    pendingLists[0]?.resolve('old');
    expect(joinToolNames(await first)).toBe('new');
    expect(joinToolNames(catalog.peek(appServer, ''))).toBe('new');
  });

  test('an answer from before a reconnect is dropped, and asked for anew', async () => {
    const { clock, catalog, signal, load } = createCatalogRig();
    await load(userServer, 'anna', createListed('before'));
    await load(userServer, 'ben', createListed('of-ben'));
    const { pendingLists, startList } = createPendingLists();
    const waiting = catalog.load(userServer, 'anna', startList, { signal, refresh: true });
    catalog.invalidate('srv', 'anna');
    expect(catalog.peek(userServer, 'anna')).toBeUndefined();
    expect(joinToolNames(catalog.peek(userServer, 'ben'))).toBe('of-ben');
    pendingLists[0]?.resolve('of-the-old-connection');
    await clock.advance(0);
    expect(catalog.peek(userServer, 'anna')).toBeUndefined();
    pendingLists[1]?.resolve('fresh');
    expect(joinToolNames(await waiting)).toBe('fresh');
    expect(joinToolNames(catalog.peek(userServer, 'anna'))).toBe('fresh');
    catalog.invalidate('srv');
    expect([catalog.peek(userServer, 'anna'), catalog.peek(userServer, 'ben')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a change during a listing leads to another one', async () => {
    const { clock, catalog, signal, load } = createCatalogRig();
    const { pendingLists, startList } = createPendingLists();
    const waiting = catalog.load(appServer, '', startList, { signal });
    catalog.onListChanged('srv');
    catalog.onListChanged('srv');
    pendingLists[0]?.resolve('old');
    expect(joinToolNames(await waiting)).toBe('old');
    await clock.advance(999);
    expect(pendingLists).toHaveLength(1);
    await clock.advance(1);
    expect(pendingLists).toHaveLength(2);
    pendingLists[1]?.resolve('new');
    await clock.advance(5_000);
    expect(pendingLists).toHaveLength(2);
    expect(joinToolNames(await load(appServer, '', createListed('unasked')))).toBe('new');
  });

  test('many notices lead to one listing, and not sooner than a second after the last', async () => {
    const { clock, catalog, load, loadCount } = createCatalogRig();
    await load(appServer, '', createListed('one'));
    for (let i = 0; i < 100; i += 1) catalog.onListChanged('srv', '');
    expect(joinToolNames(await load(appServer, '', createListed('two')))).toBe('one');
    expect(catalog.isStale(appServer, '')).toBe(true);
    await clock.advance(1_000);
    expect(joinToolNames(await load(appServer, '', createListed('two')))).toBe('two');
    await clock.advance(1_000);
    expect(joinToolNames(await load(appServer, '', createListed('three')))).toBe('two');
    expect(loadCount()).toBe(2);
    expect(catalog.isStale(appServer, '')).toBe(false);
  });

  test('a modern list is asked for again after its time, a legacy one while it is served', async () => {
    const { clock, load, loadCount } = createCatalogRig();
    const modern = { era: 'modern', ttlMs: 60_000 } as const;
    await load(userServer, 'anna', createListed('a', modern));
    await clock.advance(59_000);
    expect(joinToolNames(await load(userServer, 'anna', createListed('b', modern)))).toBe('a');
    await clock.advance(2_000);
    expect(joinToolNames(await load(userServer, 'anna', createListed('b', modern)))).toBe('b');
    // Without a time it is asked for at every use, but not twice within a second.
    await load(userServer, 'ben', createListed('a', { era: 'modern' }));
    expect(joinToolNames(await load(userServer, 'ben', createListed('b', { era: 'modern' })))).toBe('a');
    await clock.advance(1_000);
    expect(joinToolNames(await load(userServer, 'ben', createListed('b', { era: 'modern' })))).toBe('b');

    await load(appServer, '', createListed('a'));
    await clock.advance(299_000);
    const before = loadCount();
    await load(appServer, '', createListed('b'));
    expect(loadCount()).toBe(before);
    await clock.advance(1_000);
    expect(joinToolNames(await load(appServer, '', createListed('b')))).toBe('a');
    await clock.advance(0);
    expect(joinToolNames(await load(appServer, '', createListed('c')))).toBe('b');
  });

  test('a known list outlives a server that is away, but not a refusal', async () => {
    const { clock, load, loadCount } = createCatalogRig();
    const modern = { era: 'modern' } as const;
    await load(userServer, 'anna', createListed('a', modern));
    await clock.advance(2_000);
    expect(joinToolNames(await load(userServer, 'anna', down))).toBe('a');
    // Not asked again at once, and ever less often.
    await load(userServer, 'anna', createListed('b', modern));
    expect(loadCount()).toBe(2);
    await clock.advance(250);
    await load(userServer, 'anna', down);
    await clock.advance(250);
    await load(userServer, 'anna', down);
    expect(loadCount()).toBe(3);
    await clock.advance(60_000);
    await expect(load(userServer, 'anna', new UpstreamError('unauthorized'))).rejects.toMatchObject({
      reason: 'unauthorized',
    });
    // Who asks for a fresh one is told that there is none.
    await expect(load(userServer, 'anna', down, true)).rejects.toBe(down);
    await expect(load(userServer, 'new', down)).rejects.toBe(down);
  });

  test('a tool that is not in the list is looked for again, but not at every call', async () => {
    const { clock, load, loadCount } = createCatalogRig();
    await load(appServer, '', createListed('a'));
    await load(appServer, '', createListed('a b'), 'if-old');
    await clock.advance(9_999);
    await load(appServer, '', createListed('a b'), 'if-old');
    expect(loadCount()).toBe(1);
    await clock.advance(1);
    expect(joinToolNames(await load(appServer, '', createListed('a b'), 'if-old'))).toBe('a b');
  });

  test('no list outlives the definition of its server', async () => {
    const { catalog, load, loadCount } = createCatalogRig();
    const next = createServer('app', 'srv', '2');
    catalog.update([appServer]);
    await load(appServer, '', createListed('old'));
    catalog.update([next]);
    expect([catalog.peek(appServer, ''), catalog.peek(next, ''), catalog.size]).toEqual([
      undefined,
      undefined,
      0,
    ]);
    await load(next, '', createListed('new'));
    // A caller that still holds the old definition is served, and nothing of it is kept.
    expect(joinToolNames(await load(appServer, '', createListed('old')))).toBe('old');
    expect(joinToolNames(catalog.peek(next, ''))).toBe('new');
    expect(catalog.peek(appServer, '')).toBeUndefined();
    expect(loadCount()).toBe(3);
    // The same revision read again is the same server.
    const again = createServer('app', 'srv', '2');
    catalog.update([again]);
    expect(joinToolNames(catalog.peek(again, ''))).toBe('new');
  });

  test('closing stops what is in the air and what was planned', async () => {
    const { clock, catalog, signal } = createCatalogRig();
    let receivedSignal: AbortSignal | undefined;
    const { pendingLists, startList } = createPendingLists();
    const waiting = catalog.load(
      appServer,
      '',
      (flight) => {
        receivedSignal = flight;
        return startList();
      },
      { signal },
    );
    catalog.onListChanged('srv');
    pendingLists[0]?.resolve('a');
    await waiting;
    catalog.close();
    catalog.close();
    await clock.advance(5_000);
    expect([receivedSignal?.aborted, pendingLists.length]).toEqual([true, 1]);
  });
});
