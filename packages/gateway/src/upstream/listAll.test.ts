import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { type ListLimits, createListAll } from './listAll.ts';
import type { Era, JsonObject, Upstream, UpstreamRequestOptions } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

type Reply = JsonObject | (() => Promise<JsonObject>);

/** A server that answers page after page, and remembers which cursors it was asked for. */
function paging(
  pages: (cursor: string | undefined, pageIndex: number) => Reply,
  capabilities: JsonObject = { tools: {} },
  era: Era = 'modern',
) {
  const cursors: (string | undefined)[] = [];
  const options: UpstreamRequestOptions[] = [];
  const upstream: Upstream = {
    claims: {
      era,
      protocolVersion: '2026-07-28',
      name: 's',
      version: '1',
      instructions: undefined,
      capabilities,
    },
    async request(_method, params, input) {
      cursors.push(params['cursor'] as string | undefined);
      options.push(input);
      const reply = pages(params['cursor'] as string | undefined, cursors.length);
      const result = typeof reply === 'function' ? await reply() : reply;
      return { kind: 'result', result, json: undefined };
    },
    listen: () => () => undefined,
    onClose: () => undefined,
    close: async () => undefined,
  };
  return { upstream, cursors, options };
}

const tools = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ name: `t${from + i}` }));

function setUp(limits?: Partial<ListLimits>) {
  const clock = createFakeClock();
  const listAll = createListAll({ clock, ...(limits && { limits }) });
  const { signal } = new AbortController();
  const options: UpstreamRequestOptions = { signal, timeoutMs: 60_000, totalMs: 300_000 };
  return { clock, list: (upstream: Upstream) => listAll(upstream, 'tools/list', options), listAll, options };
}

describe('a list in pages', () => {
  test('an empty page and an empty cursor are not the end', async () => {
    const pages: Record<string, JsonObject> = {
      start: { tools: tools(2), nextCursor: '' },
      '': { tools: [], nextCursor: 'b' },
      b: { tools: tools(1, 2) },
    };
    const { upstream, cursors } = paging((cursor) => pages[cursor ?? 'start'] as JsonObject);
    const { list } = setUp();
    expect(await list(upstream)).toEqual({ items: tools(3), complete: true, era: 'modern' });
    expect(cursors).toEqual([undefined, '', 'b']);
  });

  test('a cursor that comes again stops', async () => {
    const { upstream, cursors } = paging((_cursor, pageIndex) => ({
      tools: tools(1, pageIndex),
      nextCursor: `c${pageIndex % 2}`,
    }));
    const { list } = setUp();
    expect(await list(upstream)).toMatchObject({ complete: false, incomplete: 'cursor' });
    expect(cursors).toEqual([undefined, 'c1', 'c0']);
  });

  test('pages, items, bytes and time each have an end', async () => {
    const endless = paging((_cursor, pageIndex) => ({
      tools: tools(1, pageIndex),
      nextCursor: `c${pageIndex}`,
    }));
    const { list } = setUp();
    expect(await list(endless.upstream)).toMatchObject({ complete: false, incomplete: 'pages' });
    expect(endless.cursors).toHaveLength(50);

    const many = paging((_cursor, pageIndex) => ({
      tools: tools(300, pageIndex * 300),
      nextCursor: `c${pageIndex}`,
    }));
    const cut = await list(many.upstream);
    expect(cut).toMatchObject({ complete: false, incomplete: 'items' });
    expect([cut.items.length, many.cursors.length]).toEqual([1_000, 4]);

    const large = paging((_cursor, pageIndex) => ({
      tools: [{ name: `t${pageIndex}`, description: 'x'.repeat(2 * 1024 * 1024) }],
      nextCursor: `c${pageIndex}`,
    }));
    const few = await list(large.upstream);
    expect(few).toMatchObject({ complete: false, incomplete: 'bytes' });
    expect(few.items).toHaveLength(2);

    const { clock, list: slowly } = setUp();
    const slow = paging((_cursor, pageIndex) => async () => {
      await clock.advance(11_000);
      return { tools: tools(1, pageIndex), nextCursor: `c${pageIndex}` };
    });
    expect(await slowly(slow.upstream)).toMatchObject({ complete: false, incomplete: 'time' });
    expect(slow.options.map(({ totalMs }) => totalMs)).toEqual([30_000, 19_000, 8_000]);
  });

  test('a count that is exactly full asks for no further page', async () => {
    const { list } = setUp({ items: 4 });
    const more = paging((_cursor, pageIndex) => ({
      tools: tools(2, pageIndex * 2),
      nextCursor: `c${pageIndex}`,
    }));
    expect(await list(more.upstream)).toMatchObject({ complete: false, incomplete: 'items' });
    expect(more.cursors).toHaveLength(2);
    const done = paging((cursor) => ({ tools: tools(2), ...(cursor === undefined && { nextCursor: 'c' }) }));
    expect(await list(done.upstream)).toMatchObject({ complete: true });
  });

  test('a later page that fails leaves the earlier ones, as incomplete', async () => {
    const failures: (() => Promise<JsonObject>)[] = [
      () => Promise.reject(new UpstreamError('reset')),
      async () => ({ tools: 'none' }),
      async () => ({ tools: [], nextCursor: 7 }),
    ];
    for (const fail of failures) {
      const { list } = setUp();
      const { upstream } = paging((cursor) =>
        cursor === undefined ? { tools: tools(2), nextCursor: 'c' } : fail,
      );
      expect(await list(upstream)).toEqual({
        items: tools(2),
        complete: false,
        incomplete: 'failed',
        era: 'modern',
      });
      const first = paging(() => fail);
      await expect(list(first.upstream)).rejects.toBeInstanceOf(UpstreamError);
    }
  });

  test('a page that never comes ends with the time, and its sender is told', async () => {
    const { clock, list } = setUp();
    const { upstream, options } = paging((cursor) =>
      cursor === undefined ? { tools: tools(1), nextCursor: 'c' } : () => new Promise<never>(() => undefined),
    );
    const listed = list(upstream);
    await clock.advance(30_000);
    expect(await listed).toMatchObject({ items: tools(1), complete: false, incomplete: 'time' });
    expect(options[1]?.signal.aborted).toBe(true);
    const silent = list(paging(() => () => new Promise<never>(() => undefined)).upstream);
    const failed = expect(silent).rejects.toMatchObject({ reason: 'timeout' });
    await clock.advance(30_000);
    await failed;
  });

  test('who stops waiting gets no half list', async () => {
    const { listAll, options } = setUp();
    const caller = new AbortController();
    const { upstream } = paging((cursor) =>
      cursor === undefined
        ? { tools: tools(1), nextCursor: 'c' }
        : () => {
            caller.abort(new Error('gone'));
            return Promise.reject(new Error('gone'));
          },
    );
    await expect(listAll(upstream, 'tools/list', { ...options, signal: caller.signal })).rejects.toThrow(
      'gone',
    );
  });

  test('what a server does not declare in its session is empty, and it is not asked', async () => {
    const { upstream, cursors } = paging(() => ({}), { prompts: {}, tools: null }, 'legacy');
    const { listAll, list, options } = setUp();
    expect(await list(upstream)).toEqual({ items: [], complete: true, era: 'legacy' });
    expect(await listAll(upstream, 'resources/templates/list', options)).toMatchObject({
      items: [],
      complete: true,
    });
    expect(cursors).toEqual([]);
    const other = paging(() => ({ resourceTemplates: [{ name: 'r' }, 'junk', null] }), { resources: {} });
    expect(await listAll(other.upstream, 'resources/templates/list', options)).toMatchObject({
      items: [{ name: 'r' }],
    });
  });

  test('without a session it is asked, whatever it said to whom', async () => {
    const { list } = setUp();
    // What it declared it may have declared to a user who sees less.
    const { upstream } = paging(() => ({ tools: tools(2) }), {});
    expect(await list(upstream)).toMatchObject({ items: tools(2), complete: true });
    const answering = (code: number) => () =>
      Promise.reject(new UpstreamError('rpc_error', { rpc: { code, message: '' } }));
    const without = paging(() => answering(-32_601), {});
    expect(await list(without.upstream)).toEqual({ items: [], complete: true, era: 'modern' });
    await expect(list(paging(() => answering(-32_602), {}).upstream)).rejects.toMatchObject({
      reason: 'rpc_error',
    });
    // One with a session that declares tools has them: there it is a failure.
    const broken = paging(() => answering(-32_601), { tools: {} }, 'legacy');
    await expect(list(broken.upstream)).rejects.toMatchObject({ reason: 'rpc_error' });
  });

  test('what only we may say is taken out of every item', async () => {
    const { list } = setUp();
    const { upstream } = paging(() => ({
      tools: [
        { name: 'a', _meta: { 'behalf/auth': { connectUrl: 'https://evil.example' }, theirs: 1 } },
        { name: 'b', _meta: { theirs: 2 } },
        { name: 'c', _meta: 'behalf/' },
      ],
    }));
    expect((await list(upstream)).items).toEqual([
      { name: 'a', _meta: { theirs: 1 } },
      { name: 'b', _meta: { theirs: 2 } },
      { name: 'c', _meta: 'behalf/' },
    ]);
  });

  test('a signal that lives on is left as it was found', async () => {
    const { listAll, options } = setUp();
    const lasting = new AbortController();
    const listeners = new Set<unknown>();
    const { signal } = lasting;
    type Listener = (() => void) | { handleEvent(): void };
    const counting = {
      get aborted() {
        return signal.aborted;
      },
      get reason() {
        return signal.reason as unknown;
      },
      addEventListener(_type: 'abort', listener: Listener) {
        listeners.add(listener);
        signal.addEventListener('abort', listener);
      },
      removeEventListener(_type: 'abort', listener: Listener) {
        listeners.delete(listener);
        signal.removeEventListener('abort', listener);
      },
    };
    const pages = paging((cursor) => ({ tools: [], ...(cursor === undefined && { nextCursor: 'c' }) }));
    await listAll(pages.upstream, 'tools/list', { ...options, signal: counting });
    const failing = paging(() => () => Promise.reject(new UpstreamError('reset')));
    await expect(
      listAll(failing.upstream, 'tools/list', { ...options, signal: counting }),
    ).rejects.toMatchObject({ reason: 'reset' });
    expect(listeners.size).toBe(0);
    // Meanwhile it is heard, by whoever sends the page.
    const hanging = paging(() => () => new Promise<never>(() => undefined));
    void listAll(hanging.upstream, 'tools/list', { ...options, signal: counting }).catch(() => undefined);
    lasting.abort(new Error('gone'));
    expect(hanging.options[0]?.signal.reason).toBe(signal.reason);
    const late = paging(() => ({ tools: [] }));
    await listAll(late.upstream, 'tools/list', { ...options, signal: counting });
    expect(late.options[0]?.signal.aborted).toBe(true);
  });

  test('the shortest time of all pages counts, and one private page makes it private', async () => {
    const { list } = setUp();
    const page = (first: JsonObject, second: JsonObject) =>
      paging((cursor) => ({
        tools: [],
        ...(cursor === undefined ? { nextCursor: 'c', ...first } : second),
      })).upstream;
    const both = { ttlMs: 500, cacheScope: 'public' };
    expect(await list(page(both, { ttlMs: 90, cacheScope: 'public' }))).toMatchObject({
      ttlMs: 90,
      cacheScope: 'public',
    });
    expect(await list(page(both, { ttlMs: 900, cacheScope: 'private' }))).toMatchObject({
      ttlMs: 500,
      cacheScope: 'private',
    });
    const silent = await list(page(both, {}));
    expect(silent.ttlMs).toBeUndefined();
    expect(silent.cacheScope).toBe('private');
  });
});
