import { SealError } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { adaAccount, createIdentityRig, dumpStore } from '../../test/identityRig.ts';
import { normalizeEmail } from './accounts.ts';

describe('accounts', () => {
  test('the owner is recognised by email and password, nobody else', async () => {
    const { accounts } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    expect(user).toMatchObject({
      tenant: 'default',
      issuer: 'local',
      subject: 'ada@example.com',
      role: 'USER',
    });
    expect(await accounts.authenticate('ada@example.com', 'correct horse')).toEqual(user);
    expect(await accounts.authenticate('ada@example.com', 'wrong')).toBeNull();
    expect(await accounts.authenticate('bob@example.com', 'correct horse')).toBeNull();
    expect(await accounts.authenticate('', '')).toBeNull();
  });

  test('an email is one account, however it is written', async () => {
    const { accounts, store } = createIdentityRig();
    await accounts.create(adaAccount);
    for (const email of ['ADA@Example.com', '  ada@example.com ', '\uff41da@example.com']) {
      await expect(accounts.create({ ...adaAccount, email })).rejects.toMatchObject({ code: 'EMAIL_TAKEN' });
      expect(await accounts.authenticate(email, adaAccount.password)).not.toBeNull();
    }
    expect(await store.users.count()).toBe(1);
  });

  test('writing an email normally twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (email) => {
        const once = normalizeEmail(email);
        expect(normalizeEmail(once)).toBe(once);
      }),
      { examples: [['İ@x'], ['K@x'], [' ﬁ@x']] },
    );
  });

  test('a hash moved into another row authenticates nobody and is an alarm', async () => {
    const { accounts, store } = createIdentityRig();
    const mallory = await accounts.create({
      ...adaAccount,
      email: 'mallory@example.com',
      password: 'mallory knows',
    });
    const victim = await accounts.create({ ...adaAccount, role: 'ADMIN' });
    await store.raw.put('users', [{ ...victim, passwordSealed: mallory.passwordSealed }]);
    await expect(accounts.authenticate(adaAccount.email, 'mallory knows')).rejects.toBeInstanceOf(SealError);
    // A hash of the attacker's own making, in the clear.
    await store.raw.put('users', [{ ...victim, passwordSealed: 'fake$mallory knows' }]);
    await expect(accounts.authenticate(adaAccount.email, 'mallory knows')).rejects.toBeInstanceOf(SealError);
  });

  test('neither password nor hash is stored in the clear', async () => {
    const { accounts, store } = createIdentityRig();
    await accounts.create({ ...adaAccount, password: 'pl4nted-password' });
    expect(await dumpStore(store)).not.toContain('pl4nted-password');
  });

  test('an account of an identity provider with the same email is somebody else', async () => {
    const { accounts, store, passwords } = createIdentityRig();
    const local = await accounts.create(adaAccount);
    const foreign = { ...local, id: 'foreign', issuer: 'https://idp.example', role: 'ADMIN' };
    expect(await store.users.insert(foreign)).toBe('inserted');
    expect((await accounts.authenticate(adaAccount.email, adaAccount.password))?.id).toBe(local.id);
    const { accounts: others, store: otherStore, passwords: counted } = createIdentityRig();
    await otherStore.users.insert({ ...foreign, passwordSealed: null });
    expect(await others.authenticate(adaAccount.email, adaAccount.password)).toBeNull();
    expect(counted.derivations).toEqual(['pretend correct horse']);
    expect(passwords.derivations).toHaveLength(2);
  });

  test('a local account without a password cannot be signed in to', async () => {
    const { accounts, store, passwords } = createIdentityRig();
    const user = await accounts.create(adaAccount);
    await store.raw.put('users', [{ ...user, passwordSealed: null }]);
    passwords.derivations.length = 0;
    expect(await accounts.authenticate(adaAccount.email, adaAccount.password)).toBeNull();
    expect(await accounts.authenticate(adaAccount.email, '')).toBeNull();
    expect(passwords.derivations).toHaveLength(2);
  });

  test('a new account is announced to the other processes', async () => {
    const { accounts, store } = createIdentityRig();
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
    const { id } = await accounts.create(adaAccount);
    expect(received).toEqual([`users ${id}`]);
    expect(await accounts.hasUsers()).toBe(true);
  });
});
