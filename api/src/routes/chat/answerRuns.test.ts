import { GatewayError, type UserPrincipal } from '@behalf/gateway';
import { type Leases, LightCancellation, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { type AnswerRuns, type AnswerStopped, conversationLeaseKey, createAnswerRuns } from './answerRuns.ts';

const ada = aPrincipal();
const bob = aPrincipal({ userId: 'u-bob' });

function rig(overrides: Partial<Leases> = {}) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const parts = {
    ...{ clock, changes: store.changes, cache: store.cache('chats') },
    leases: { ...store.leases, ...overrides },
    limits: { maxPerUser: 2, maxTotal: 3 },
  };
  /** Two replicas over one store. */
  return { clock, store, parts, one: createAnswerRuns(parts), two: createAnswerRuns(parts) };
}

const enter = (answers: AnswerRuns, owner: UserPrincipal = ada) =>
  answers.start(owner, new LightCancellation());
const whyOf = ({ signal }: { signal: { reason: unknown } }) =>
  (signal.reason as AnswerStopped | undefined)?.reason;

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'no error';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

describe('answers under way', () => {
  test('have room for so many of a user, and so many in all', async () => {
    const { one } = rig();
    const first = enter(one);
    enter(one);
    expect(codeOf(() => enter(one))).toBe('RATE_LIMITED');
    enter(one, bob);
    expect(codeOf(() => enter(one, bob))).toBe('RATE_LIMITED');
    await first.end();
    await first.end();
    expect(codeOf(() => enter(one))).toBe('no error');
    // Of a user of the same name in another tenant there is none.
    expect(codeOf(() => enter(one, aPrincipal({ tenant: 'other' })))).toBe('RATE_LIMITED');
  });

  test('hold their conversation at all replicas, for as long as they run', async () => {
    const { one, two, clock } = rig();
    const running = enter(one);
    await running.lockConversation('c');
    await expect(enter(two).lockConversation('c')).rejects.toMatchObject({ code: 'CHAT_BUSY' });
    // Somebody else's conversation of this id is another one.
    await enter(two, bob).lockConversation('c');
    await clock.advance(10 * 60_000);
    expect([running.signal.aborted, await two.isRunning(ada, 'c')]).toEqual([false, true]);
    await running.end();
    expect(await two.isRunning(ada, 'c')).toBe(false);
  });

  test('end when another replica has their conversation', async () => {
    const { store } = rig();
    let isFirst = true;
    // As after a pause of the whole process: it ran out, and somebody else took it.
    const { one, clock } = rig({
      acquire: async (...wish) => {
        const held = isFirst ? await store.leases.acquire(...wish) : null;
        isFirst = false;
        return held && { ...held, extend: async () => false };
      },
    });
    const running = enter(one);
    await running.lockConversation('c');
    await clock.advance(10_000);
    expect(whyOf(running)).toBe('lease_lost');
  });

  test('go on when it ran out and nobody took it', async () => {
    const { store } = rig();
    const { one, clock } = rig({
      acquire: async (key, purpose, ttlMs) => {
        const held = await store.leases.acquire(`${key}${systemRandom.id()}`, purpose, ttlMs);
        return held && { ...held, extend: async () => false };
      },
    });
    const running = enter(one);
    await running.lockConversation('c');
    await clock.advance(60_000);
    expect(running.signal.aborted).toBe(false);
  });

  test('go on while the store does not answer, and no longer than they may', async () => {
    const { store } = rig();
    const failing = rig({
      acquire: async (key, purpose, ttlMs) => {
        const held = await store.leases.acquire(key, purpose, ttlMs);
        return held && { ...held, extend: () => Promise.reject(new Error('down')) };
      },
    });
    const running = enter(failing.one);
    await running.lockConversation('c');
    await failing.clock.advance(29_000);
    expect(running.signal.aborted).toBe(false);
    await failing.clock.advance(1_000);
    expect(whyOf(running)).toBe('lease_lost');
  });

  test('leave none behind that came after their end', async () => {
    const { store } = rig();
    let come: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (come = resolve));
    let isFirst = true;
    const { one, clock } = rig({
      async acquire(...wish) {
        if (!isFirst) await slow;
        const held = await store.leases.acquire(...wish);
        // As after a pause of the whole process.
        if (isFirst) await held?.release();
        isFirst = false;
        return held;
      },
    });
    const running = enter(one);
    await running.lockConversation('c');
    await clock.advance(10_000);
    await running.end();
    come();
    await clock.advance(0);
    expect(await store.leases.findHolder(conversationLeaseKey(ada, 'c'))).toBeNull();
  });

  test('end after half an hour', async () => {
    const { one, clock } = rig();
    const [late, done] = [enter(one), enter(one)];
    await late.lockConversation('c');
    await done.end();
    await clock.advance(30 * 60_000 - 1);
    expect(late.signal.aborted).toBe(false);
    await clock.advance(1);
    expect([whyOf(late), done.signal.aborted]).toEqual(['timeout', false]);
  });

  test('are stopped from any replica: this one, and not the next', async () => {
    const { one, two, clock } = rig();
    const running = enter(one);
    await running.lockConversation('c');
    expect([await two.stop(bob, 'c'), await two.stop(ada, 'other')]).toEqual([false, false]);
    expect(running.signal.aborted).toBe(false);
    expect(await two.stop(ada, 'c')).toBe(true);
    await clock.advance(0);
    expect(whyOf(running)).toBe('requested');
    await running.end();
    const next = enter(one);
    await next.lockConversation('c');
    await clock.advance(60_000);
    expect(next.signal.aborted).toBe(false);
  });

  test('hear of it also when the notice got lost', async () => {
    const { one, parts, clock } = rig();
    const running = enter(one);
    await running.lockConversation('c');
    const silent = { ...parts.changes, publish: async () => undefined };
    await createAnswerRuns({ ...parts, changes: silent }).stop(ada, 'c');
    await clock.advance(9_000);
    expect(running.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(whyOf(running)).toBe('requested');
  });

  test('have a moment to end by themselves when the process ends', async () => {
    const { one, clock } = rig();
    const running = enter(one);
    await running.lockConversation('c');
    one.drain();
    expect(codeOf(() => enter(one, bob))).toBe('SHUTTING_DOWN');
    await clock.advance(2_000);
    expect(running.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(whyOf(running)).toBe('shutdown');
    let closed = false;
    const closing = one.close().then(() => (closed = true));
    await clock.advance(0);
    // What was said is not kept yet.
    expect(closed).toBe(false);
    await running.end();
    await closing;
  });

  test('end when their reader leaves, also before they have begun', () => {
    const { one } = rig();
    const leaving = new LightCancellation();
    const running = one.start(ada, leaving);
    leaving.abort(new Error('left'));
    expect(whyOf(running)).toBe('disconnected');
    expect(whyOf(one.start(ada, leaving))).toBe('disconnected');
  });
});
