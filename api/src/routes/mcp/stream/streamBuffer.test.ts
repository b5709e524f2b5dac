import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { MessageStream } from '../../../http/sse.ts';
import { createMailbox } from '../relay/mailbox.ts';
import { createSharedLists } from '../relay/sharedLists.ts';
import type { SessionKey } from '../sealed.ts';
import { type StreamBufferLimits, createStreamBuffers } from './streamBuffer.ts';
import { createEventIds } from './streamRelay.ts';

const place: SessionKey = { tenant: 'default', principal: 'ada', key: 'session' };
const REQUEST = 'r-1';
const done = JSON.stringify({ jsonrpc: '2.0', id: REQUEST, result: {} });

/** Replicas on one store. One that is killed says and hears nothing any more. */
function createReplicas(limits: Partial<StreamBufferLimits> = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const sharedCache = store.cache('mcp');
  const replica = (name: string) => {
    let killed = false;
    const alive =
      <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        killed ? new Promise<R>(() => undefined) : work(...args);
    const cache = {
      ...sharedCache,
      get: alive((key: string) => sharedCache.get(key)),
      set: alive((key: string, value: string, ttlMs: number) => sharedCache.set(key, value, ttlMs)),
      delete: alive((key: string) => sharedCache.delete(key)),
    };
    const { changes } = store;
    const mailbox = createMailbox({ cache, changes, keyring, clock });
    const lists = createSharedLists({ cache, clock, leases: store.leases });
    const replays = createStreamBuffers({
      ...{ clock, random, keyring, mailbox, cache, changes, lists, replica: name },
      ...{ eventIds: createEventIds(keyring), limits },
    });
    return { replays, kill: () => (killed = true) };
  };
  return { clock, sharedCache, a: replica('a'), b: replica('b'), c: replica('c') };
}

function aReader() {
  const messages: unknown[] = [];
  const ids: string[] = [];
  let open = true;
  const send = (text: string, id?: string) => {
    if (!open) return;
    if (id !== undefined) ids.push(id);
    if (text !== '') messages.push(JSON.parse(text));
  };
  const stream: MessageStream = {
    ...{
      isStarted: true,
      start: () => undefined,
      send,
      sendIfReady: send,
      sendLatest: send,
      close: () => undefined,
    },
    get isOpen() {
      return open;
    },
    end: () => (open = false),
  };
  return { stream, messages, ids, leave: () => (open = false) };
}

const note = (n: number) => JSON.stringify({ jsonrpc: '2.0', method: 'n', params: { n } });
const uncertain = { id: REQUEST, error: { data: { code: 'MCP_OUTCOME_UNCERTAIN' } } };

/** A call at `a` that has said something and lost its reader. */
function begin({ a }: ReturnType<typeof createReplicas>) {
  const reader = aReader();
  const replay = a.replays.begin(place, REQUEST, reader.stream)!;
  replay.sendPrimingEvent();
  replay.emit(note(1));
  return { replay, reader, first: reader.ids[0]!, last: reader.ids[1]! };
}

describe('a stream that is taken up at another replica', () => {
  test('tells there what it tells, in order and once', async () => {
    const all = createReplicas();
    const { replay, reader, first } = begin(all);
    const there = aReader();
    all.b.replays.resume(place, first, there.stream);
    await all.clock.advance(500);
    expect([there.messages.length, reader.stream.isOpen]).toEqual([1, false]);
    // The call asks something, which must not wait for its end.
    replay.emit(note(2));
    replay.sendIfReady(note(3));
    await all.clock.advance(60_000);
    expect(there.messages.map((one) => (one as { params: { n: number } }).params.n)).toEqual([1, 2, 3]);
    expect(there.stream.isOpen).toBe(true);
    replay.finish(done);
    await all.clock.advance(4_000);
    expect([there.messages.at(-1), there.stream.isOpen]).toEqual([JSON.parse(done), false]);
    expect([there.messages.length, reader.messages.length]).toEqual([4, 1]);
    expect(new Set(there.ids).size).toBe(4);
  });

  test('also when it ended before, and at the next one again', async () => {
    const all = createReplicas();
    const { replay, last } = begin(all);
    replay.finish(JSON.stringify({ ...(JSON.parse(done) as object), large: 'x'.repeat(300_000) }));
    for (const by of [all.b, all.c]) {
      const there = aReader();
      by.replays.resume(place, last, there.stream);
      await all.clock.advance(4_000);
      expect([there.messages.length, there.stream.isOpen]).toEqual([1, false]);
    }
  });

  test('is left in the store by one that is gone since', async () => {
    const all = createReplicas();
    const { replay, reader, last } = begin(all);
    reader.leave();
    replay.finish(done);
    await all.clock.advance(100);
    all.a.kill();
    const there = aReader();
    all.b.replays.resume(place, last, there.stream);
    await all.clock.advance(4_000);
    expect([there.messages, there.stream.isOpen]).toEqual([[JSON.parse(done)], false]);
  });

  test('goes on when its reader there leaves, to a third', async () => {
    const all = createReplicas();
    const { replay, last } = begin(all);
    const there = aReader();
    const leave = all.b.replays.resume(place, last, there.stream)!;
    await all.clock.advance(1_000);
    leave();
    await all.clock.advance(1_000);
    const third = aReader();
    all.c.replays.resume(place, last, third.stream);
    await all.clock.advance(1_000);
    replay.finish(done);
    await all.clock.advance(4_000);
    expect([third.messages, there.messages]).toEqual([[JSON.parse(done)], []]);
  });

  test('is uncertain when its holder is gone', async () => {
    const all = createReplicas();
    const { last } = begin(all);
    all.a.kill();
    const there = aReader();
    all.b.replays.resume(place, last, there.stream);
    await all.clock.advance(4_000);
    expect(there.messages).toEqual([]);
    await all.clock.advance(4_000);
    expect([there.messages, there.stream.isOpen]).toMatchObject([[uncertain], false]);
  });

  test('or goes while it is read there', async () => {
    const all = createReplicas();
    const { last } = begin(all);
    const there = aReader();
    all.b.replays.resume(place, last, there.stream);
    await all.clock.advance(30_000);
    expect([there.messages, there.stream.isOpen]).toEqual([[], true]);
    all.a.kill();
    await all.clock.advance(15_000);
    expect([there.messages, there.stream.isOpen]).toMatchObject([[uncertain], false]);
  });

  test('or has forgotten it, where it was held too', async () => {
    const all = createReplicas();
    const { replay, last } = begin(all);
    replay.finish(done);
    await all.clock.advance(61_000);
    expect(all.a.replays.size).toBe(0);
    for (const by of [all.a, all.b]) {
      const reader = aReader();
      by.replays.resume(place, last, reader.stream);
      await all.clock.advance(8_000);
      expect([reader.messages, reader.stream.isOpen]).toMatchObject([[uncertain], false]);
    }
  });

  test('is nobody else’s, and a made-up one is none', async () => {
    const all = createReplicas();
    const { replay, last } = begin(all);
    replay.finish(done);
    const reader = aReader();
    const others = [
      { ...place, key: 'another' },
      { ...place, principal: 'bob' },
      { ...place, tenant: 'b' },
    ];
    for (const by of [all.a, all.b]) {
      for (const other of others) expect(by.replays.resume(other, last, reader.stream)).toBeUndefined();
      const cut = last.lastIndexOf('.');
      for (const made of [
        '',
        'x',
        `${last}x`,
        last.slice(0, cut),
        `x${last}`,
        `${'x'.repeat(22)}.1`,
        'x'.repeat(5_000),
      ])
        expect(by.replays.resume(place, made, reader.stream)).toBeUndefined();
    }
    await all.clock.advance(10_000);
    expect(reader.messages).toEqual([]);
    const own = aReader();
    all.a.replays.resume(place, last, own.stream);
    expect(own.messages).toEqual([JSON.parse(done)]);
    expect(all.a.replays.begin(place, 'x'.repeat(257), reader.stream)).toBeUndefined();
  });

  test('what wants it is sealed to its session, and so is what is told', async () => {
    const all = createReplicas();
    const { replay, reader, last } = begin(all);
    const stored: string[] = [];
    const set = all.sharedCache.set.bind(all.sharedCache);
    all.sharedCache.set = (key, value, ttlMs) => (stored.push(value), set(key, value, ttlMs));
    // Whoever can write to the store cannot make the holder turn its stream over.
    const lists = createSharedLists({
      ...{ cache: all.sharedCache, clock: all.clock },
      leases: openMemoryStore({ clock: all.clock, random }).leases,
    });
    const stream = 'made up';
    await lists.change('stream-requests:a', 60_000, () => [
      JSON.stringify([stream, 'x', all.clock.now() + 60_000]),
    ]);
    const there = aReader();
    all.b.replays.resume(place, last, there.stream);
    await all.clock.advance(2_000);
    expect(reader.stream.isOpen).toBe(false);
    replay.finish(JSON.stringify({ secret: 'what was found' }));
    await all.clock.advance(4_000);
    expect(there.messages).toEqual([{ secret: 'what was found' }]);
    expect(JSON.stringify(stored)).not.toContain('what was found');
  });
});

describe('what taking streams up costs', () => {
  /** The words that were left in the store for readers elsewhere. */
  function countWords({ sharedCache }: ReturnType<typeof createReplicas>): () => number {
    let words = 0;
    const set = sharedCache.set.bind(sharedCache);
    sharedCache.set = (key, value, ttlMs) => {
      if (key.includes(':relay:')) words += 1;
      return set(key, value, ttlMs);
    };
    return () => words;
  }

  test('is nothing any more for a reader that has left', async () => {
    const all = createReplicas();
    const words = countWords(all);
    const { replay, first } = begin(all);
    const leave = all.b.replays.resume(place, first, aReader().stream)!;
    await all.clock.advance(100);
    expect(words()).toBe(1);
    replay.emit(note(2));
    leave();
    await all.clock.advance(1_000);
    replay.emit(note(3));
    replay.finish(done);
    await all.clock.advance(4_000);
    expect(words()).toBe(1);
  });

  test('is one copy each half second for a user who comes often', async () => {
    const all = createReplicas();
    const words = countWords(all);
    const { replay, first } = begin(all);
    const last = aReader();
    for (let n = 0; n < 9; n += 1) all.b.replays.resume(place, first, aReader().stream);
    all.b.replays.resume(place, first, last.stream);
    await all.clock.advance(400);
    expect(words()).toBe(1);
    await all.clock.advance(6_000);
    expect(words()).toBeLessThan(4);
    replay.finish(done);
    await all.clock.advance(4_000);
    expect(last.messages.at(-1)).toEqual(JSON.parse(done));
  });

  test('takes no room from others', () => {
    const all = createReplicas({ maxBytes: 1_000, maxUserBytes: 400 });
    const mine = all.a.replays.begin(place, REQUEST, aReader().stream)!;
    for (let n = 0; n < 20; n += 1) mine.emit(JSON.stringify({ x: 'x'.repeat(90) }));
    const bob = { ...place, principal: 'bob', key: 'bobs' };
    const reader = aReader();
    const theirs = all.a.replays.begin(bob, REQUEST, reader.stream)!;
    theirs.sendPrimingEvent();
    for (let n = 0; n < 3; n += 1) theirs.emit(JSON.stringify({ y: 'y'.repeat(90) }));
    const again = aReader();
    all.a.replays.resume(bob, reader.ids[0]!, again.stream);
    expect(again.messages).toHaveLength(3);
  });

  test('makes what is over give way to what runs', () => {
    const all = createReplicas({ maxBytes: 10_000, maxUserBytes: 1_000 });
    for (let n = 0; n < 4; n += 1) {
      const before = all.a.replays.begin(place, `before-${n}`, aReader().stream)!;
      before.finish(JSON.stringify({ x: 'x'.repeat(230) }));
    }
    const { replay, last } = begin(all);
    replay.finish(JSON.stringify({ ...(JSON.parse(done) as object), more: 'x'.repeat(300) }));
    const again = aReader();
    all.a.replays.resume(place, last, again.stream);
    expect(again.messages).toMatchObject([{ id: REQUEST, result: {} }]);
  });

  test('says that there was an answer which could not be kept', async () => {
    const all = createReplicas({ maxStreamBytes: 1_000 });
    const { replay, last } = begin(all);
    replay.finish(JSON.stringify({ ...(JSON.parse(done) as object), large: 'x'.repeat(2_000) }));
    for (const by of [all.a, all.b]) {
      const reader = aReader();
      by.replays.resume(place, last, reader.stream);
      await all.clock.advance(4_000);
      expect([reader.messages, reader.stream.isOpen]).toMatchObject([
        [{ id: REQUEST, error: { data: { code: 'MCP_RESPONSE_TOO_LARGE' } } }],
        false,
      ]);
    }
  });
});
