import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig, dumpStore } from '../../test/identityRig.ts';
import type { GatewayError } from '../errors/gatewayError.ts';
import { networkOf } from './passwordSignIn.ts';

const WINDOW_MS = 15 * 60 * 1_000;
const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'signed in',
    (error: unknown) => (error as GatewayError).code,
  );

async function rigWithAda() {
  const rig = createIdentityRig();
  await rig.accounts.create(adaAccount);
  rig.passwords.derivations.length = 0;
  return {
    ...rig,
    /** A guess at an account, from one address unless told. */
    guess: (password: string, { email = adaAccount.email, address = '203.0.113.1' } = {}) =>
      codeOf(rig.signIn({ email, password, address })),
  };
}

describe('signing in', () => {
  test('ten wrong guesses close an account to their address, and to no other', async () => {
    const { guess, clock } = await rigWithAda();
    for (let i = 0; i < 10; i += 1) expect(await guess(`wrong ${i}`)).toBe('AUTH_FAILED');
    expect(await guess(adaAccount.password)).toBe('RATE_LIMITED');
    expect(await guess(adaAccount.password, { email: ' ADA@EXAMPLE.COM ' })).toBe('RATE_LIMITED');
    expect(await guess('x', { email: 'bob@example.com' })).toBe('AUTH_FAILED');
    expect(await guess(adaAccount.password, { address: '203.0.113.2' })).toBe('signed in');
    await clock.advance(WINDOW_MS);
    expect(await guess(adaAccount.password)).toBe('signed in');
  });

  test('fifty attempts close an address, whatever accounts they were at', async () => {
    const { guess, clock } = await rigWithAda();
    const address = '198.51.100.7';
    for (let i = 0; i < 50; i += 1) {
      expect(await guess('x', { email: `user${i}@example.com`, address })).toBe('AUTH_FAILED');
    }
    expect(await guess(adaAccount.password, { address })).toBe('RATE_LIMITED');
    expect(await guess(adaAccount.password)).toBe('signed in');
    await clock.advance(WINDOW_MS);
    expect(await guess(adaAccount.password, { address })).toBe('signed in');
  });

  test('guesses from many addresses are limited too, far above what one stranger can send', async () => {
    const { guess } = await rigWithAda();
    for (let i = 0; i < 200; i += 1) {
      expect(await guess('wrong', { address: `198.51.${i}.7` })).toBe('AUTH_FAILED');
    }
    expect(await guess(adaAccount.password, { address: '203.0.113.9' })).toBe('RATE_LIMITED');
  });

  test('the addresses of one IPv6 network count as one, however they are written', async () => {
    const { guess } = await rigWithAda();
    for (let i = 0; i < 10; i += 1) {
      expect(await guess('wrong', { address: `2001:db8:0:1::${i.toString(16)}` })).toBe('AUTH_FAILED');
    }
    expect(await guess(adaAccount.password, { address: '2001:0DB8::1:ffff:0:0:1' })).toBe('RATE_LIMITED');
    expect(await guess(adaAccount.password, { address: '2001:db8:0:2::1' })).toBe('signed in');
  });

  test('another port, brackets or the other family’s form make no other caller', async () => {
    const { guess } = await rigWithAda();
    for (let i = 0; i < 10; i += 1) {
      expect(await guess('wrong', { address: `203.0.113.5:${40_000 + i}` })).toBe('AUTH_FAILED');
    }
    const same = ['203.0.113.5', '::ffff:203.0.113.5', '[::FFFF:203.0.113.5]:1', '::ffff:cb00:7105'];
    for (const address of same) {
      expect([address, networkOf(address)]).toEqual([address, '203.0.113.5']);
      expect(await guess(adaAccount.password, { address })).toBe('RATE_LIMITED');
    }
    expect(await guess(adaAccount.password, { address: '203.0.113.6:40000' })).toBe('signed in');
    for (const address of ['2001:db8:0:1::1', '[2001:db8:0:1::1]:40001', '[2001:db8:0:1::1]']) {
      expect(networkOf(address)).toBe('2001:db8:0:1::/64');
    }
    // Not of the other family, whatever its last part looks like.
    expect(networkOf('2001:db8::203.0.113.5')).toBe('2001:db8:0:0::/64');
    expect(networkOf('::203.0.113.5')).toBe('0:0:0:0::/64');
    expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
    expect(networkOf('unknown')).toBe('unknown');
    // A site is wider, in the family that has them.
    expect(networkOf('2001:db8:0:1::1', 'site')).toBe('2001:db8:0::/48');
    expect(networkOf('::ffff:203.0.113.5', 'site')).toBe('203.0.113.5');
  });

  test('a parallel burst gets no more guesses than the limit', async () => {
    const { guess, passwords } = await rigWithAda();
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => guess(i === 25 ? adaAccount.password : `wrong ${i}`)),
    );
    expect(passwords.derivations).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'AUTH_FAILED')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(20);
    expect(outcomes).not.toContain('signed in');
  });

  test('an address beyond its limit uses up nobody’s guesses', async () => {
    const { guess } = await rigWithAda();
    const address = '198.51.100.7';
    for (let i = 0; i < 50; i += 1) await guess('x', { email: `user${i}@example.com`, address });
    for (let i = 0; i < 20; i += 1) expect(await guess('x', { address })).toBe('RATE_LIMITED');
    expect(await guess(adaAccount.password)).toBe('signed in');
  });

  test('a success clears the account’s count and not the address’s', async () => {
    const { guess } = await rigWithAda();
    const address = '198.51.100.7';
    for (let round = 0; round < 5; round += 1) {
      for (let i = 0; i < 9; i += 1) expect(await guess('wrong', { address })).toBe('AUTH_FAILED');
      expect(await guess(adaAccount.password, { address })).toBe('signed in');
    }
    expect(await guess(adaAccount.password, { address })).toBe('RATE_LIMITED');
    expect(await guess(adaAccount.password)).toBe('signed in');
  });

  test('a refusal says when to come back', async () => {
    const { guess, signIn, clock } = await rigWithAda();
    for (let i = 0; i < 10; i += 1) await guess('wrong');
    await clock.advance(60_000);
    const attempt = { email: adaAccount.email, password: 'x', address: '203.0.113.1' };
    await expect(signIn(attempt)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: WINDOW_MS - 60_000,
    });
    await clock.advance(WINDOW_MS - 60_000 - 10);
    await expect(signIn(attempt)).rejects.toMatchObject({ retryAfterMs: 1_000 });
  });

  test('an unknown email and a wrong password cannot be told apart', async () => {
    const { signIn, passwords } = await rigWithAda();
    const failure = async (email: string) => {
      passwords.derivations.length = 0;
      const error = await signIn({ email, password: 'wrong', address: '203.0.113.1' }).catch(
        (e: unknown) => e,
      );
      const { code, message, detail, errors, retryAfterMs, cause } = error as GatewayError;
      return {
        code,
        message,
        detail,
        errors,
        retryAfterMs,
        cause,
        derivations: passwords.derivations.length,
      };
    };
    const known = await failure(adaAccount.email);
    expect(await failure('nobody@example.com')).toEqual(known);
    expect(known).toMatchObject({ code: 'AUTH_FAILED', derivations: 1 });
  });

  test('an unknown email is limited as a known one is', async () => {
    const { guess } = await rigWithAda();
    const outcomesFor = async (email: string) => {
      const outcomes: string[] = [];
      for (let i = 0; i < 12; i += 1) outcomes.push(await guess('wrong', { email }));
      return outcomes;
    };
    expect(await outcomesFor('nobody@example.com')).toEqual(await outcomesFor(adaAccount.email));
  });

  test('the counters hold no list of who signs in', async () => {
    const { signIn, store } = createIdentityRig();
    const keys: string[] = [];
    const hit = store.attempts.hit.bind(store.attempts);
    store.attempts.hit = (key, windowMs) => (keys.push(key), hit(key, windowMs));
    await codeOf(signIn({ email: 'planted@example.com', password: 'pl4nted', address: '203.0.113.1' }));
    expect(keys).toHaveLength(3);
    expect(keys.join()).not.toMatch(/planted|pl4nted/);
    expect(await dumpStore(store)).not.toMatch(/planted|pl4nted/);
  });
});
