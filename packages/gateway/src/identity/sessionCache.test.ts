import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { ada, createIdentityRig } from '../../test/identityRig.ts';
import { STALENESS_MS } from '../ports/index.ts';
import { createSessionCache } from './sessionCache.ts';

async function createRig() {
  const rig = createIdentityRig();
  const user = await rig.accounts.create(ada);
  const { secret } = await rig.sessions.start(user);
  let reads = 0;
  let before: () => Promise<void> = async () => undefined;
  const cache = createSessionCache({
    sessions: {
      async resolve(given) {
        reads += 1;
        const found = await rig.sessions.resolve(given);
        await before();
        return found;
      },
    },
    // As if the feed had lost touch at once.
    changes: { ...rig.store.changes, checkedAt: () => 0 },
    clock: rig.clock,
  });
  return {
    ...rig,
    user,
    secret,
    cache,
    reads: () => reads,
    /** Something that happens between a read and its use. */
    meanwhile: (work: () => Promise<void>) => (before = work),
  };
}

describe('the session cache', () => {
  verifies('identity.session.cached', 'a known caller costs no read, for two seconds at most', async () => {
    const { cache, secret, user, clock, reads } = await createRig();
    expect(await cache.resolve(secret)).toMatchObject({ userId: user.id });
    expect(cache.resolve(secret)).not.toBeInstanceOf(Promise);
    await clock.advance(STALENESS_MS - 1);
    await cache.resolve(secret);
    expect(reads()).toBe(1);
    await clock.advance(1);
    await cache.resolve(secret);
    expect(reads()).toBe(2);
    expect(STALENESS_MS).toBe(2_000);
  });

  verifies(
    'identity.session.cached',
    'a connection that brings another cookie is another caller',
    async () => {
      const { cache, secret, user, sessions, accounts } = await createRig();
      const bob = await accounts.create({ ...ada, email: 'bob@example.com' });
      const other = await sessions.start(bob);
      const socket = {};
      for (let i = 0; i < 2; i += 1) {
        expect(await cache.resolve(secret, socket)).toMatchObject({ userId: user.id });
        expect(await cache.resolve(other.secret, socket)).toMatchObject({ userId: bob.id });
        expect(await cache.resolve('guess', socket)).toBeNull();
      }
    },
  );

  verifies('identity.session.cached', 'a cookie that is nobody’s is not remembered', async () => {
    const { cache, reads } = await createRig();
    expect(await cache.resolve('guess')).toBeNull();
    expect(await cache.resolve('guess')).toBeNull();
    expect(reads()).toBe(2);
  });

  verifies('identity.session.cache-ended', 'a sign-out counts at once', async () => {
    const { cache, secret, sessions } = await createRig();
    await cache.resolve(secret);
    await sessions.end(secret);
    expect(await cache.resolve(secret)).toBeNull();
  });

  verifies('identity.session.cache-ended', 'so does a change of the account', async () => {
    const { cache, secret, store, user, clock } = await createRig();
    await cache.resolve(secret);
    await store.users.setRole(user.id, 'ADMIN', clock.now());
    await store.changes.publish({ topic: 'users', id: user.id });
    expect(await cache.resolve(secret)).toMatchObject({ role: 'ADMIN' });
  });

  verifies('identity.session.cache-ended', 'and a notice that does not say whose', async () => {
    const { cache, secret, store, reads } = await createRig();
    for (const topic of ['users', 'sessions'] as const) {
      await cache.resolve(secret);
      const before = reads();
      await store.changes.publish({ topic, id: '*' });
      await cache.resolve(secret);
      expect([topic, reads()]).toEqual([topic, before + 1]);
    }
  });

  verifies(
    'identity.session.cache-race',
    'what was read before a sign-out is not kept after it',
    async () => {
      const { cache, secret, sessions, meanwhile } = await createRig();
      meanwhile(() => sessions.end(secret));
      await cache.resolve(secret);
      meanwhile(async () => undefined);
      expect(await cache.resolve(secret)).toBeNull();
    },
  );
});
