import { aCredential } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig, dumpStore } from '../../test/identityRig.ts';
import { SESSION_LIFETIME_MS, loginCredentialKey } from './signInSessions.ts';
import { hashSecret } from './hashSecret.ts';

describe('sessions', () => {
  test('the cookie is its user until it is ended', async () => {
    const { accounts, sessions, store } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const { secret, hash, expiresAt } = await sessions.start(user);
    expect(await sessions.resolve(secret)).toEqual({
      caller: {
        kind: 'user',
        userId: user.id,
        tenant: 'default',
        role: 'USER',
        email: 'ada@example.com',
        name: 'Ada',
        issuer: 'local',
        groups: [],
        authentication: { via: 'session', session: hash },
      },
      until: expiresAt,
    });
    const other = await sessions.start(user);
    const received: string[] = [];
    store.changes.subscribe(({ topic }) => received.push(topic));
    await sessions.end(secret);
    expect(await sessions.resolve(secret)).toBeNull();
    expect(await sessions.resolve(other.secret)).not.toBeNull();
    await sessions.end(secret);
    expect(received).toEqual(['sessions', 'users']);
  });

  test('a cookie nobody was given is nobody’s', async () => {
    const { accounts, sessions, store } = createIdentityRig();
    const { secret } = await sessions.start(await accounts.create(adaAccount));
    const [record] = await store.raw.page('sessions', null, 1);
    for (const guess of ['', 'x', `${secret}x`, secret.slice(1), record!.hash]) {
      expect(await sessions.resolve(guess)).toBeNull();
    }
  });

  test('the role is the user’s present one', async () => {
    const { accounts, sessions, store, clock } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const { secret } = await sessions.start(user);
    await store.users.update(user.id, { role: 'ADMIN' }, clock.now());
    expect((await sessions.resolve(secret))?.caller.role).toBe('ADMIN');
  });

  test('what a client was granted is no cookie’s', async () => {
    const { accounts, sessions } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const granted = { groups: [], expiresAt: 9e12, grant: { clientId: 'c', from: '' } };
    await sessions.grant(user, { hash: hashSecret('known'), ...granted });
    expect(await sessions.find(hashSecret('known'))).toMatchObject({ via: 'client', userId: user.id });
    expect(await sessions.resolve('known')).toBeNull();
  });

  test('a session ends after seven days and is swept', async () => {
    const { accounts, sessions, clock } = createIdentityRig();
    const { secret, expiresAt } = await sessions.start(await accounts.create(adaAccount));
    expect(expiresAt).toBe(clock.now() + SESSION_LIFETIME_MS);
    await clock.advance(SESSION_LIFETIME_MS - 1);
    expect(await sessions.resolve(secret)).not.toBeNull();
    expect(await sessions.sweep()).toBe(0);
    await clock.advance(1);
    expect(await sessions.resolve(secret)).toBeNull();
    expect(await sessions.sweep()).toBe(1);
  });

  test('the session of a user that is gone is nobody’s', async () => {
    const { accounts, sessions } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const { secret } = await sessions.start({ ...user, id: 'gone' });
    expect(await sessions.resolve(secret)).toBeNull();
  });

  test('who reads the store cannot use what is in it', async () => {
    const { accounts, sessions, setup, store } = createIdentityRig();
    const link = (await setup.issueLink())!;
    const { secret } = await sessions.start(await accounts.create(adaAccount));
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const stored = await dumpStore(store);
    for (const planted of [secret, link]) {
      expect(stored).not.toContain(planted);
      expect(stored).not.toContain(Buffer.from(planted, 'base64url').toString('hex'));
      expect(stored).not.toContain(Buffer.from(planted).toString('base64'));
    }
    const [record] = await store.raw.page('sessions', null, 1);
    expect(await sessions.resolve(record!.hash)).toBeNull();
  });

  test('neither cookie nor password of a disabled account opens', async () => {
    const { accounts, sessions, store, clock, passwords } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const { secret } = await sessions.start(user);
    await store.users.update(user.id, { disabledAt: clock.now() }, clock.now());
    expect(await sessions.resolve(secret)).toBeNull();
    passwords.derivations.length = 0;
    expect(await accounts.authenticate(adaAccount.email, adaAccount.password)).toBeNull();
    // As long as for anybody else.
    expect(passwords.derivations).toHaveLength(1);
    await store.users.update(user.id, { disabledAt: null }, clock.now());
    expect(await sessions.resolve(secret)).not.toBeNull();
  });

  test('the tokens of the sign-in go with it, and everybody hears who was signed out', async () => {
    const { accounts, sessions, store, clock } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    const bob = await accounts.create({ ...adaAccount, email: 'bob@example.com' });
    const stored = await sessions.start(bob, { via: 'openid', groups: ['staff'] });
    const issued = await Promise.all(
      [1, 2, 3].map(() => sessions.start(user, { via: 'openid', groups: [] })),
    );
    const keyOf = (userId: string, session: string) =>
      loginCredentialKey({ tenant: 'default', userId, session });
    const all = [...issued.map(({ hash }) => keyOf(user.id, hash)), keyOf(bob.id, stored.hash)];
    for (const key of all) {
      await store.credentials.insert(aCredential(key));
    }
    const left = async () =>
      (await Promise.all(all.map((key) => store.credentials.find(key)))).map((found) => found !== null);
    await clock.advance(5);
    await sessions.end(issued[0]!.secret);
    expect(await left()).toEqual([false, true, true, true]);
    expect(await store.users.listSignedOutSince(clock.now())).toEqual([
      { id: user.id, tenant: 'default', signedOutAt: clock.now() },
    ]);
    expect(await sessions.endByHash(bob.id, issued[1]!.hash)).toBeNull();
    expect(await sessions.endByHash(user.id, issued[1]!.hash)).not.toBeNull();
    expect(await sessions.endAll(user)).toBe(1);
    expect(await left()).toEqual([false, false, false, true]);
    expect(await sessions.resolve(issued[2]!.secret)).toBeNull();
    expect((await sessions.resolve(stored.secret))?.caller.groups).toEqual(['staff']);
    expect((await sessions.list(bob.id)).map(({ hash }) => hash)).toEqual([stored.hash]);
  });
});
