import { describe, expect, test } from '@jest/globals';
import { app, held, incomplete, listed, namesIn, own, server, setUp } from '../../test/catalogRig.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const down = new UpstreamError('connect_failed');

describe('what is known of the tools', () => {
  test('those who ask together share one listing, and leave alone', async () => {
    const { catalog, signal } = setUp();
    const { asked, list } = held();
    const impatient = new AbortController();
    const leaving = catalog.load(app, '', list, { signal: impatient.signal });
    const staying = catalog.load(app, '', list, { signal });
    impatient.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    asked[0]?.land('a');
    expect(namesIn(await staying)).toBe('a');
    expect(asked).toHaveLength(1);
    expect(catalog.peek(app, '')).toBe(await staying);
    await expect(catalog.load(app, '', list, { signal: impatient.signal })).rejects.toThrow('gone');
  });

  test('a listing that everybody left still becomes known', async () => {
    const { clock, catalog } = setUp();
    const { asked, list } = held();
    const impatient = new AbortController();
    const leaving = catalog.load(app, '', list, { signal: impatient.signal });
    impatient.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    asked[0]?.land('a');
    await clock.advance(0);
    expect(namesIn(catalog.peek(app, ''))).toBe('a');
  });

  test('what one user sees of a server is never shown to another', async () => {
    const { catalog, load, asked } = setUp();
    // A server may claim that its list is everybody's; of one that gets users' own credentials it is not believed.
    const claims = { era: 'modern', ttlMs: 60_000, cacheScope: 'public' } as const;
    await load(own, 'anna', listed('a secret_project', claims));
    expect(catalog.peek(own, 'ben')).toBeUndefined();
    expect(namesIn(await load(own, 'ben', listed('b', claims)))).toBe('b');
    expect(namesIn(catalog.peek(own, 'anna'))).toBe('a secret_project');
    expect(asked()).toBe(2);
    expect(() => catalog.peek(own, '')).toThrow(TypeError);
    await expect(load(own, '', listed('x'))).rejects.toThrow(TypeError);
  });

  test('a shared server has one list, and another of the same name its own', async () => {
    const { catalog, load, asked } = setUp();
    await load(app, 'anna', listed('a'));
    expect(namesIn(await load(app, 'ben', listed('b')))).toBe('a');
    expect(asked()).toBe(1);
    const elsewhere = { ...app, tenant: 'other' } as ServerSnapshot;
    expect(catalog.peek(elsewhere, '')).toBeUndefined();
    const turned = server('user');
    expect(catalog.peek(turned, 'anna')).toBeUndefined();
  });

  test('half a list never replaces a whole one, and an empty whole one does', async () => {
    const { clock, catalog, load } = setUp();
    await load(app, '', listed('a b c'));
    expect(namesIn(await load(app, '', listed('a', incomplete), true))).toBe('a b c');
    expect(namesIn(catalog.peek(app, ''))).toBe('a b c');
    await clock.advance(60_000);
    expect(namesIn(await load(app, '', listed(''), true))).toBe('');
    expect(catalog.peek(app, '')?.tools).toEqual([]);
  });

  test('half a list is better than none, says so, and is asked for again', async () => {
    const { clock, load, asked } = setUp();
    const half = await load(app, '', listed('a', incomplete));
    expect([namesIn(half), half.complete, half.incomplete]).toEqual(['a', false, 'failed']);
    await clock.advance(1_000);
    await load(app, '', listed('a b'));
    await clock.advance(2_000);
    expect([namesIn(await load(app, '', listed('c'))), asked()]).toEqual(['a b', 2]);
  });

  test('an older answer that lands last does not win', async () => {
    const { catalog, signal } = setUp();
    const { asked, list } = held();
    const first = catalog.load(app, '', list, { signal, refresh: true });
    const second = catalog.load(app, '', list, { signal, refresh: true });
    asked[1]?.land('new');
    expect(namesIn(await second)).toBe('new');
    asked[0]?.land('old');
    expect(namesIn(await first)).toBe('new');
    expect(namesIn(catalog.peek(app, ''))).toBe('new');
  });

  test('an answer from before a reconnect is dropped, and asked for anew', async () => {
    const { clock, catalog, signal, load } = setUp();
    await load(own, 'anna', listed('before'));
    await load(own, 'ben', listed('of-ben'));
    const { asked, list } = held();
    const waiting = catalog.load(own, 'anna', list, { signal, refresh: true });
    catalog.invalidate('srv', 'anna');
    expect(catalog.peek(own, 'anna')).toBeUndefined();
    expect(namesIn(catalog.peek(own, 'ben'))).toBe('of-ben');
    asked[0]?.land('of-the-old-connection');
    await clock.advance(0);
    expect(catalog.peek(own, 'anna')).toBeUndefined();
    asked[1]?.land('fresh');
    expect(namesIn(await waiting)).toBe('fresh');
    expect(namesIn(catalog.peek(own, 'anna'))).toBe('fresh');
    catalog.invalidate('srv');
    expect([catalog.peek(own, 'anna'), catalog.peek(own, 'ben')]).toEqual([undefined, undefined]);
  });

  test('a change during a listing leads to another one', async () => {
    const { clock, catalog, signal, load } = setUp();
    const { asked, list } = held();
    const waiting = catalog.load(app, '', list, { signal });
    catalog.onListChanged('srv');
    catalog.onListChanged('srv');
    asked[0]?.land('old');
    expect(namesIn(await waiting)).toBe('old');
    await clock.advance(999);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(asked).toHaveLength(2);
    asked[1]?.land('new');
    await clock.advance(5_000);
    expect(asked).toHaveLength(2);
    expect(namesIn(await load(app, '', listed('unasked')))).toBe('new');
  });

  test('many notices lead to one listing, and not sooner than a second after the last', async () => {
    const { clock, catalog, load, asked } = setUp();
    await load(app, '', listed('one'));
    for (let i = 0; i < 100; i += 1) catalog.onListChanged('srv', '');
    expect(namesIn(await load(app, '', listed('two')))).toBe('one');
    expect(catalog.isStale(app, '')).toBe(true);
    await clock.advance(1_000);
    expect(namesIn(await load(app, '', listed('two')))).toBe('two');
    await clock.advance(1_000);
    expect(namesIn(await load(app, '', listed('three')))).toBe('two');
    expect(asked()).toBe(2);
    expect(catalog.isStale(app, '')).toBe(false);
  });

  test('a modern list is asked for again after its time, a legacy one while it is served', async () => {
    const { clock, load, asked } = setUp();
    const modern = { era: 'modern', ttlMs: 60_000 } as const;
    await load(own, 'anna', listed('a', modern));
    await clock.advance(59_000);
    expect(namesIn(await load(own, 'anna', listed('b', modern)))).toBe('a');
    await clock.advance(2_000);
    expect(namesIn(await load(own, 'anna', listed('b', modern)))).toBe('b');
    // Without a time it is asked for at every use, but not twice within a second.
    await load(own, 'ben', listed('a', { era: 'modern' }));
    expect(namesIn(await load(own, 'ben', listed('b', { era: 'modern' })))).toBe('a');
    await clock.advance(1_000);
    expect(namesIn(await load(own, 'ben', listed('b', { era: 'modern' })))).toBe('b');

    await load(app, '', listed('a'));
    await clock.advance(299_000);
    const before = asked();
    await load(app, '', listed('b'));
    expect(asked()).toBe(before);
    await clock.advance(1_000);
    expect(namesIn(await load(app, '', listed('b')))).toBe('a');
    await clock.advance(0);
    expect(namesIn(await load(app, '', listed('c')))).toBe('b');
  });

  test('a known list outlives a server that is away, but not a refusal', async () => {
    const { clock, load, asked } = setUp();
    const modern = { era: 'modern' } as const;
    await load(own, 'anna', listed('a', modern));
    await clock.advance(2_000);
    expect(namesIn(await load(own, 'anna', down))).toBe('a');
    // Not asked again at once, and ever less often.
    await load(own, 'anna', listed('b', modern));
    expect(asked()).toBe(2);
    await clock.advance(250);
    await load(own, 'anna', down);
    await clock.advance(250);
    await load(own, 'anna', down);
    expect(asked()).toBe(3);
    await clock.advance(60_000);
    await expect(load(own, 'anna', new UpstreamError('unauthorized'))).rejects.toMatchObject({
      reason: 'unauthorized',
    });
    // Who asks for a fresh one is told that there is none.
    await expect(load(own, 'anna', down, true)).rejects.toBe(down);
    await expect(load(own, 'new', down)).rejects.toBe(down);
  });

  test('a tool that is not in the list is looked for again, but not at every call', async () => {
    const { clock, load, asked } = setUp();
    await load(app, '', listed('a'));
    await load(app, '', listed('a b'), 'if-old');
    await clock.advance(9_999);
    await load(app, '', listed('a b'), 'if-old');
    expect(asked()).toBe(1);
    await clock.advance(1);
    expect(namesIn(await load(app, '', listed('a b'), 'if-old'))).toBe('a b');
  });

  test('no list outlives the definition of its server', async () => {
    const { catalog, load, asked } = setUp();
    const next = server('app', 'srv', '2');
    catalog.update([app]);
    await load(app, '', listed('old'));
    catalog.update([next]);
    expect([catalog.peek(app, ''), catalog.peek(next, ''), catalog.size]).toEqual([undefined, undefined, 0]);
    await load(next, '', listed('new'));
    // A caller that still holds the old definition is served, and nothing of it is kept.
    expect(namesIn(await load(app, '', listed('old')))).toBe('old');
    expect(namesIn(catalog.peek(next, ''))).toBe('new');
    expect(catalog.peek(app, '')).toBeUndefined();
    expect(asked()).toBe(3);
    // The same revision read again is the same server.
    const again = server('app', 'srv', '2');
    catalog.update([again]);
    expect(namesIn(catalog.peek(again, ''))).toBe('new');
  });

  test('closing stops what is in the air and what was planned', async () => {
    const { clock, catalog, signal } = setUp();
    let told: AbortSignal | undefined;
    const { asked, list } = held();
    const waiting = catalog.load(
      app,
      '',
      (flight) => {
        told = flight;
        return list();
      },
      { signal },
    );
    catalog.onListChanged('srv');
    asked[0]?.land('a');
    await waiting;
    catalog.close();
    catalog.close();
    await clock.advance(5_000);
    expect([told?.aborted, asked.length]).toEqual([true, 1]);
  });
});
