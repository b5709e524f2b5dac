import { createKeyring, SealError, systemRandom as random } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { Cache } from '../../ports/index.ts';
import { createPendingClaims } from './pendingClaims.ts';

const LIFETIME_MS = 10 * 60_000;
const claims = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';
const ada = '["default","u-ada"]';
const bob = '["default","u-bob"]';

function createRig() {
  const clock = createFakeClock();
  const lifetimes: number[] = [];
  const store = openMemoryStore({ clock, random }).cache('claims');
  const cache: Cache = {
    ...store,
    set(key, value, ttlMs) {
      lifetimes.push(ttlMs);
      return store.set(key, value, ttlMs);
    },
  };
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  return { clock, cache, lifetimes, pending: createPendingClaims({ cache, keyring, clock }) };
}

describe('what the provider wants proven', () => {
  test('is there for its user until it is dropped', async () => {
    const { pending } = createRig();
    expect(await pending.find(ada)).toBeUndefined();
    await pending.put(ada, ` ${claims}\n`);
    expect(await pending.find(bob)).toBeUndefined();
    for (let i = 0; i < 2; i += 1) expect(await pending.find(ada)).toBe(claims);
    await pending.put(ada, '{"id_token":{}}');
    expect(await pending.find(ada)).toBe('{"id_token":{}}');
    await pending.remove(ada);
    expect(await pending.find(ada)).toBeUndefined();
  });

  test('is over after ten minutes, also when somebody puts it back', async () => {
    const { pending, clock, lifetimes, cache } = createRig();
    await pending.put(ada, claims);
    expect(lifetimes).toEqual([LIFETIME_MS]);
    const old = (await cache.get(ada))!;
    await clock.advance(LIFETIME_MS - 1);
    expect(await pending.find(ada)).toBe(claims);
    await clock.advance(1);
    expect(await pending.find(ada)).toBeUndefined();
    await cache.set(ada, old, LIFETIME_MS);
    expect(await pending.find(ada)).toBeUndefined();
  });

  test('is a JSON object of some size, or nothing', async () => {
    const { pending } = createRig();
    const long = JSON.stringify({ a: 'x'.repeat(4_096 - 8) });
    expect(long).toHaveLength(4_096);
    const many = JSON.stringify({ a: 'é'.repeat(3_000) });
    for (const text of ['', 'null', '[]', '"a"', '7', '{', `${claims}&prompt=none`, `${long} `, many]) {
      await pending.put(ada, text);
      expect(await pending.find(ada)).toBeUndefined();
    }
    await pending.put(ada, long);
    expect(await pending.find(ada)).toBe(long);
    // Nor does it take the place of what was.
    await pending.put(ada, '[]');
    expect(await pending.find(ada)).toBe(long);
  });

  test('cannot be read, written or moved by who has the cache', async () => {
    const { pending, cache, clock } = createRig();
    await pending.put(ada, claims);
    const sealed = (await cache.get(ada))!;
    expect(sealed).not.toContain('acrs');
    await cache.set(bob, sealed, LIFETIME_MS);
    await expect(pending.find(bob)).rejects.toBeInstanceOf(SealError);
    await cache.set(bob, JSON.stringify({ claims, expiresAt: clock.now() + 1_000 }), LIFETIME_MS);
    await expect(pending.find(bob)).rejects.toBeInstanceOf(SealError);
    // The key was replaced: nothing to be alarmed about.
    const keyring = createKeyring([Buffer.alloc(32, 2)], random);
    expect(await createPendingClaims({ cache, keyring, clock }).find(ada)).toBeUndefined();
  });
});
