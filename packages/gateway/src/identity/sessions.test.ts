import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { ada, createIdentityRig, everythingStored } from '../../test/identityRig.ts';
import { SESSION_LIFETIME_MS } from './sessions.ts';

describe('sessions', () => {
  verifies('identity.session.resolve', 'the cookie is its user until it is ended', async () => {
    const { accounts, sessions, store } = createIdentityRig();
    const user = await accounts.create(ada);
    const { secret } = await sessions.start(user);
    expect(await sessions.resolve(secret)).toEqual({
      kind: 'user',
      userId: user.id,
      tenant: 'default',
      role: 'USER',
      email: 'ada@example.com',
      name: 'Ada',
    });
    const other = await sessions.start(user);
    const heard: string[] = [];
    store.changes.subscribe(({ topic }) => heard.push(topic));
    await sessions.end(secret);
    expect(await sessions.resolve(secret)).toBeNull();
    expect(await sessions.resolve(other.secret)).not.toBeNull();
    await sessions.end(secret);
    expect(heard).toEqual(['sessions']);
  });

  verifies('identity.session.resolve', 'a cookie nobody was given is nobody’s', async () => {
    const { accounts, sessions, store } = createIdentityRig();
    const { secret } = await sessions.start(await accounts.create(ada));
    const [record] = await store.raw.page('sessions', null, 1);
    for (const guess of ['', 'x', `${secret}x`, secret.slice(1), record!.hash]) {
      expect(await sessions.resolve(guess)).toBeNull();
    }
  });

  verifies('identity.session.resolve', 'the role is the user’s present one', async () => {
    const { accounts, sessions, store, clock } = createIdentityRig();
    const user = await accounts.create(ada);
    const { secret } = await sessions.start(user);
    await store.users.setRole(user.id, 'ADMIN', clock.now());
    expect((await sessions.resolve(secret))?.role).toBe('ADMIN');
  });

  verifies('identity.session.expiry', 'a session ends after seven days and is swept', async () => {
    const { accounts, sessions, clock } = createIdentityRig();
    const { secret, expiresAt } = await sessions.start(await accounts.create(ada));
    expect(expiresAt).toBe(clock.now() + SESSION_LIFETIME_MS);
    await clock.advance(SESSION_LIFETIME_MS - 1);
    expect(await sessions.resolve(secret)).not.toBeNull();
    expect(await sessions.sweep()).toBe(0);
    await clock.advance(1);
    expect(await sessions.resolve(secret)).toBeNull();
    expect(await sessions.sweep()).toBe(1);
  });

  verifies('identity.session.deleted-user', 'the session of a user that is gone is nobody’s', async () => {
    const { accounts, sessions } = createIdentityRig();
    const user = await accounts.create(ada);
    const { secret } = await sessions.start({ ...user, id: 'gone' });
    expect(await sessions.resolve(secret)).toBeNull();
  });

  verifies('identity.session.hash-only', 'who reads the store cannot use what is in it', async () => {
    const { accounts, sessions, setup, store } = createIdentityRig();
    const link = (await setup.offer())!;
    const { secret } = await sessions.start(await accounts.create(ada));
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const stored = await everythingStored(store);
    for (const planted of [secret, link]) {
      expect(stored).not.toContain(planted);
      expect(stored).not.toContain(Buffer.from(planted, 'base64url').toString('hex'));
      expect(stored).not.toContain(Buffer.from(planted).toString('base64'));
    }
    const [record] = await store.raw.page('sessions', null, 1);
    expect(await sessions.resolve(record!.hash)).toBeNull();
  });
});
