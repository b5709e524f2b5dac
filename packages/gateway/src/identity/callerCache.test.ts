import { aUser } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig } from '../../test/identityRig.ts';
import { MAX_STALENESS_MS } from '../ports/index.ts';
import { toPrincipal } from '../principal/principal.ts';
import { createCallerCache } from './callerCache.ts';
import { hashSecret } from './hashSecret.ts';

async function createRig() {
  const rig = createIdentityRig();
  const user = await rig.accounts.create(adaAccount);
  const { secret } = await rig.sessions.start(user);
  let reads = 0;
  let generation = 0;
  let before: () => Promise<void> = async () => undefined;
  const cache = createCallerCache({
    async read(key) {
      reads += 1;
      const found = await rig.sessions.resolve(key);
      await before();
      return found;
    },
    topic: 'sessions',
    generation: () => generation,
    // As if the feed had lost touch at once.
    changes: { ...rig.store.changes, syncedUntil: () => 0 },
    clock: rig.clock,
  });
  return {
    ...rig,
    user,
    secret,
    cache,
    reads: () => reads,
    /** As when the keys that signed are no good any more. */
    turn: () => void (generation += 1),
    /** Something that happens between a read and its use. */
    meanwhile: (work: () => Promise<void>) => (before = work),
  };
}

describe('the cache of callers', () => {
  test('a known caller costs no read, for two seconds at most', async () => {
    const { cache, secret, user, clock, reads } = await createRig();
    expect(await cache.resolve(secret)).toMatchObject({ userId: user.id });
    expect(cache.resolve(secret)).not.toBeInstanceOf(Promise);
    await clock.advance(MAX_STALENESS_MS - 1);
    await cache.resolve(secret);
    expect(reads()).toBe(1);
    await clock.advance(1);
    await cache.resolve(secret);
    expect(reads()).toBe(2);
    expect(MAX_STALENESS_MS).toBe(2_000);
  });

  test('a connection that brings another cookie is another caller', async () => {
    const { cache, secret, user, sessions, accounts } = await createRig();
    const bob = await accounts.create({ ...adaAccount, email: 'bob@example.com' });
    const other = await sessions.start(bob);
    const socket = {};
    for (let i = 0; i < 2; i += 1) {
      expect(await cache.resolve(secret, socket)).toMatchObject({ userId: user.id });
      expect(await cache.resolve(other.secret, socket)).toMatchObject({ userId: bob.id });
      expect(await cache.resolve('guess', socket)).toBeNull();
    }
  });

  test('a cookie that is nobody’s is not remembered', async () => {
    const { cache, reads } = await createRig();
    expect(await cache.resolve('guess')).toBeNull();
    expect(await cache.resolve('guess')).toBeNull();
    expect(reads()).toBe(2);
  });

  test('a request does not join a verification that started before the keys changed', async () => {
    const { cache, secret, turn, meanwhile, reads } = await createRig();
    let finish: () => void = () => undefined;
    meanwhile(() => (reads() === 1 ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve()));
    const first = cache.resolve(secret);
    turn();
    const second = cache.resolve(secret);
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    await Promise.all([first, second]);
    expect(reads()).toBe(2);
  });

  test('a sign-out counts at once', async () => {
    const { cache, secret, sessions } = await createRig();
    await cache.resolve(secret);
    await sessions.end(secret);
    expect(await cache.resolve(secret)).toBeNull();
  });

  test('so does a change of the account', async () => {
    const { cache, secret, store, user, clock } = await createRig();
    await cache.resolve(secret);
    await store.users.update(user.id, { role: 'ADMIN' }, clock.now());
    await store.changes.publish({ topic: 'users', id: user.id });
    expect(await cache.resolve(secret)).toMatchObject({ role: 'ADMIN' });
  });

  test('and a notice that does not say whose', async () => {
    const { cache, secret, store, reads } = await createRig();
    for (const topic of ['users', 'sessions'] as const) {
      await cache.resolve(secret);
      const before = reads();
      await store.changes.publish({ topic, id: '*' });
      await cache.resolve(secret);
      expect([topic, reads()]).toEqual([topic, before + 1]);
    }
  });

  test('and a notice about this very secret', async () => {
    const { cache, secret, store, reads } = await createRig();
    await cache.resolve(secret);
    await store.changes.publish({ topic: 'sessions', id: hashSecret('another') });
    await cache.resolve(secret);
    expect(reads()).toBe(1);
    await store.changes.publish({ topic: 'sessions', id: hashSecret(secret) });
    await cache.resolve(secret);
    expect(reads()).toBe(2);
  });

  test('who was good a moment ago is known until the next look', async () => {
    const { cache, secret, store, sessions, meanwhile } = await createRig();
    expect(cache.isCached(secret)).toBe(false);
    meanwhile(() => store.changes.publish({ topic: 'users', id: '*' }));
    await cache.resolve(secret);
    expect(cache.isCached(secret)).toBe(true);
    for (const topic of ['users', 'sessions'] as const) await store.changes.publish({ topic, id: '*' });
    expect(cache.isCached(secret)).toBe(true);
    await sessions.end(secret);
    expect(await cache.resolve(secret)).toBeNull();
    expect(cache.isCached(secret)).toBe(false);
  });

  test('what was read before a sign-out is not kept after it', async () => {
    const { cache, secret, sessions, meanwhile } = await createRig();
    meanwhile(async () => void (await sessions.end(secret)));
    await cache.resolve(secret);
    meanwhile(async () => undefined);
    expect(await cache.resolve(secret)).toBeNull();
  });

  test('what was read by keys that are over is not kept either', async () => {
    const { cache, secret, meanwhile, turn, reads } = await createRig();
    meanwhile(async () => turn());
    await cache.resolve(secret);
    meanwhile(async () => undefined);
    await cache.resolve(secret);
    expect(reads()).toBe(2);
    expect(cache.resolve(secret)).not.toBeInstanceOf(Promise);
    // Not even while nobody can be asked.
    turn();
    meanwhile(() => Promise.reject(new Error('away')));
    await expect(cache.resolve(secret)).rejects.toThrow('away');
  });

  test('nobody is known for longer than what they hold is valid', async () => {
    const { clock, store } = createIdentityRig();
    const caller = toPrincipal(aUser(), { via: 'bearer' });
    const until = clock.now() + 1_000;
    const cache = createCallerCache({
      read: async () => ({ caller, until }),
      topic: null,
      changes: store.changes,
      clock,
    });
    expect(await cache.resolve('token')).toBe(caller);
    await clock.advance(999);
    expect(cache.resolve('token')).toBe(caller);
    await clock.advance(1);
    expect(await cache.resolve('token')).toBeNull();
  });

  test('while the store is silent who was known goes on for half a minute, and nobody new comes in', async () => {
    const { cache, secret, user, store, clock, meanwhile } = await createRig();
    await cache.resolve(secret);
    meanwhile(() => Promise.reject(new Error('away')));
    await clock.advance(MAX_STALENESS_MS);
    expect(await cache.resolve(secret)).toMatchObject({ userId: user.id });
    await expect(cache.resolve('guess')).rejects.toThrow('away');
    await clock.advance(30_000 - MAX_STALENESS_MS - 1);
    expect(await cache.resolve(secret)).toMatchObject({ userId: user.id });
    await clock.advance(1);
    await expect(cache.resolve(secret)).rejects.toThrow('away');
    // Nor does it bring back who was signed out meanwhile.
    meanwhile(async () => undefined);
    await cache.resolve(secret);
    meanwhile(() => Promise.reject(new Error('away')));
    await store.changes.publish({ topic: 'users', id: user.id });
    await expect(cache.resolve(secret)).rejects.toThrow('away');
  });
});
