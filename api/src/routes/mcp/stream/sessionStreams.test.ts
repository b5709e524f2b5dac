import { systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { type McpSession, createSessionStates } from '../session/sessions.ts';
import { createSessionStreams } from './openStreams.ts';

function createReplicas() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const sharedCache = store.cache('mcp');
  const requests: string[] = [];
  let failing = false;
  const cache = {
    ...sharedCache,
    async get(key: string) {
      requests.push(key);
      if (failing) throw new Error('The store does not answer');
      return sharedCache.get(key);
    },
  };
  const { changes } = store;
  const replica = () => {
    const states = createSessionStates({ cache, changes, clock });
    return { states, streams: createSessionStreams({ cache, changes, states, clock, random }) };
  };
  const session = (key: string) => ({ key, expiresAt: clock.now() + 60_000 }) as McpSession;
  return {
    ...{ clock, cache, sharedCache, changes, requests, session, here: replica(), there: replica() },
    fail: (now: boolean) => (failing = now),
  };
}

describe('the streams of a session at several replicas', () => {
  test('the last to come reads, wherever it comes to', async () => {
    const { clock, session, here, there } = createReplicas();
    const ended: string[] = [];
    const open = (at: typeof here, name: string, key = 'k') =>
      at.streams.openListener(
        session(key),
        () => ended.push(name),
        () => undefined,
      );
    open(here, 'first');
    open(there, 'other session', 'other');
    await clock.advance(0);
    expect(ended).toEqual([]);
    open(there, 'second');
    await clock.advance(0);
    expect(ended).toEqual(['first']);
    open(there, 'third');
    expect(ended).toEqual(['first', 'second']);
    open(here, 'fourth');
    await clock.advance(0);
    expect(ended).toEqual(['first', 'second', 'third']);
  });

  test('also of two that come at once: one', async () => {
    const { clock, session, here, there } = createReplicas();
    const ended = new Set<string>();
    for (const [name, at] of Object.entries({ here, there }))
      at.streams.openListener(
        session('k'),
        () => ended.add(name),
        () => undefined,
      );
    await clock.advance(3_000);
    expect(ended.size).toBe(1);
  });

  test('none where nobody elsewhere could be told', async () => {
    const { clock, cache, session, here } = createReplicas();
    cache.set = () => Promise.reject(new Error('The store does not answer'));
    let ended = 0;
    here.streams.openListener(
      session('k'),
      () => (ended += 1),
      () => undefined,
    );
    await clock.advance(0);
    expect(ended).toBe(1);
  });

  test('all of them with it, at every replica, and no others', async () => {
    const { clock, session, here, there, fail } = createReplicas();
    const ended: string[] = [];
    here.streams.openListener(
      session('k'),
      () => ended.push('main'),
      () => undefined,
    );
    const leave = here.streams.addResumed(session('k'), () => ended.push('left'));
    here.streams.addResumed(session('k'), () => ended.push('resumed here'));
    there.streams.addResumed(session('k'), () => ended.push('resumed there'));
    there.streams.addResumed(session('other'), () => ended.push('other'));
    leave();
    await clock.advance(0);
    fail(true);
    await there.states.end(session('k'));
    await clock.advance(3_000);
    expect(ended).toEqual([]);
    // As soon as the store can be asked.
    fail(false);
    await clock.advance(1_000);
    expect(ended.sort()).toEqual(['main', 'resumed here', 'resumed there']);
  });

  test('asks about none by the clock, and about one when told of one', async () => {
    const { clock, session, changes, requests, here } = createReplicas();
    let news = 0;
    for (let n = 0; n < 100; n += 1)
      here.streams.openListener(
        session(`k${n}`),
        () => undefined,
        () => (news += 1),
      );
    await clock.advance(0);
    requests.length = 0;
    news = 0;
    await clock.advance(10 * 60_000);
    expect(requests).toEqual([]);
    await changes.publish({ topic: 'mcpSessions', id: 'k7' });
    await clock.advance(0);
    expect([new Set(requests), news]).toEqual([new Set(['ended:k7', 'level:k7', 'reader:k7']), 1]);
  });

  test('also for who was just reading how it stands', async () => {
    const { clock, cache, session, here, there } = createReplicas();
    const get = cache.get.bind(cache);
    let goOn: () => void = () => undefined;
    cache.get = async (key) => {
      const value = await get(key);
      if (key.startsWith('ended:')) await new Promise<void>((resolve) => (goOn = resolve));
      return value;
    };
    const reading = here.states.read(session('k'));
    await clock.advance(0);
    cache.get = get;
    await there.states.end(session('k'));
    goOn();
    await reading;
    expect(await here.states.read(session('k'))).toMatchObject({ isEnded: true });
  });
});
