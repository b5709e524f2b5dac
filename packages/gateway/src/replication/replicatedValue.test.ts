import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { ChangeEvent } from '../ports/index.ts';
import { createReplicatedValue } from './replicatedValue.ts';

/** A store with one number in it, and a feed that can fall silent. */
function rig({ away = false } = {}) {
  const clock = createFakeClock();
  const listeners = new Set<(notice: ChangeEvent) => void>();
  const state = { value: 1, away, silent: false, checkedAt: 0, reads: 0 };
  const waiting: (() => void)[] = [];
  const changed: number[] = [];
  const logged: string[] = [];
  let held = false;
  let meanwhile: () => void = () => undefined;
  const followed = createReplicatedValue<number>({
    topic: 'roles',
    async read() {
      state.reads += 1;
      const seen = state.value;
      await Promise.resolve();
      meanwhile();
      if (held) await new Promise<void>((resolve) => waiting.push(resolve));
      if (state.away) throw new Error('away');
      return seen;
    },
    fallback: 0,
    changes: {
      publish: async () => undefined,
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      syncedUntil: () => (state.checkedAt = state.silent || state.away ? state.checkedAt : clock.now()),
    },
    clock,
    log: (event) => logged.push(event),
    onChange: (value) => changed.push(value),
  });
  return {
    clock,
    state,
    changed,
    logged,
    followed,
    listeners,
    tell: (topic: ChangeEvent['topic'] = 'roles') =>
      listeners.forEach((listener) => listener({ topic, id: '*' })),
    /** Runs during each read. */
    during: (work: () => void) => (meanwhile = work),
    hold: () => (held = true),
    letGo: () => {
      held = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

describe('what is followed', () => {
  test('it is read at the start, and again after a notice of its topic alone', async () => {
    const { clock, state, followed, changed, tell } = rig();
    expect(followed.current()).toBe(0);
    expect(followed.isFresh()).toBe(false);
    await followed.ready;
    expect([followed.current(), followed.isFresh()]).toEqual([1, true]);
    state.value = 2;
    tell('servers');
    await clock.advance(0);
    expect(followed.current()).toBe(1);
    tell();
    expect(followed.isFresh()).toBe(false);
    await clock.advance(0);
    expect([followed.current(), followed.isFresh(), changed]).toEqual([2, true, [1, 2]]);
    // While the feed vouches for it nothing is read.
    const { reads } = state;
    await clock.advance(20_000);
    expect(state.reads).toBe(reads);
    followed.stop();
  });

  test('it is read anew within two seconds when the feed cannot vouch for it', async () => {
    const { clock, state, followed } = rig();
    await followed.ready;
    state.silent = true;
    state.value = 2;
    await clock.advance(2_000);
    expect(followed.current()).toBe(2);
    followed.stop();
  });

  test('a notice during a read asks for another one after it', async () => {
    const { clock, state, followed, tell, hold, letGo } = rig();
    await followed.ready;
    hold();
    tell();
    state.value = 2;
    tell();
    expect(state.reads).toBe(2);
    letGo();
    await clock.advance(0);
    expect([followed.current(), state.reads]).toEqual([2, 3]);
    followed.stop();
  });

  test('however often others change it, who has changed it waits for one read', async () => {
    const { state, followed, tell, during } = rig();
    await followed.ready;
    const { reads } = state;
    // Somebody changes it during each of a hundred reads.
    during(() => {
      if (state.reads < reads + 100) tell();
    });
    await followed.refresh();
    expect(state.reads).toBeLessThan(reads + 5);
    followed.stop();
  });

  test('what a notice told of during a read is not fresh before it was read itself', async () => {
    const { clock, state, followed, tell, during } = rig();
    await followed.ready;
    during(() => {
      if (state.reads === 2) tell();
      // The read that the second notice asks for finds nobody.
      if (state.reads === 3) state.away = true;
    });
    tell();
    await clock.advance(0);
    expect([state.reads, followed.current(), followed.isFresh()]).toEqual([3, 1, false]);
    followed.stop();
  });

  test('who has just changed it never gets a read that began before', async () => {
    const { state, followed, hold, letGo, tell } = rig();
    await followed.ready;
    hold();
    tell();
    state.value = 2;
    const refreshed = followed.refresh();
    letGo();
    await refreshed;
    expect([followed.current(), followed.isFresh()]).toEqual([2, true]);
    followed.stop();
  });

  test('it holds for half a minute without an answer, and then nothing does', async () => {
    const { clock, state, followed, changed, logged } = rig();
    await followed.ready;
    state.away = true;
    await clock.advance(3_000);
    expect([followed.current(), followed.isFresh()]).toEqual([1, false]);
    await expect(followed.refresh()).rejects.toThrow('away');
    await clock.advance(25_000);
    expect(followed.current()).toBe(1);
    await clock.advance(4_000);
    expect([followed.current(), changed, logged]).toEqual([0, [1, 0], ['store_unreachable']]);
    state.away = false;
    await clock.advance(1_000);
    expect([followed.current(), followed.isFresh(), changed]).toEqual([1, true, [1, 0, 1]]);
    followed.stop();
  });

  test('a start without the store ends in nothing, until it answers', async () => {
    const { clock, state, followed } = rig({ away: true });
    await followed.ready;
    expect([followed.current(), followed.isFresh()]).toEqual([0, false]);
    state.away = false;
    await clock.advance(1_000);
    expect(followed.current()).toBe(1);
    followed.stop();
  });

  test('after the end it neither listens nor reads, nor tells of a late answer', async () => {
    const { clock, state, followed, listeners, changed, tell, hold, letGo } = rig();
    await followed.ready;
    hold();
    tell();
    followed.stop();
    state.value = 2;
    letGo();
    await clock.advance(60_000);
    expect([listeners.size, changed, state.reads]).toEqual([0, [1], 2]);
  });
});
