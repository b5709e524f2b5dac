import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  toTokenSet,
  createVaultRig,
  type VaultRig,
} from '../../../test/vaultRig.ts';
import { credentialId } from '../../ports/index.ts';
import { openTokens } from './tokenPair.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

async function commit(rig: VaultRig, baseGeneration: number, key = credentialKey()) {
  const granted = rig.server.grant({ clientId: 'behalf', scope: 'read' });
  const outcome = await rig.vault.commit({
    ...key,
    binding: rig.definition.binding,
    endpoints: rig.endpoints,
    tokens: toTokenSet(granted),
    sentAt: rig.clock.now(),
    scopesRequested: 'read',
    baseGeneration,
  });
  return { granted, outcome };
}

describe('signing out', () => {
  test('during a refresh wins, and what the refresh got is revoked', async () => {
    const rig = await createVaultRig();
    const { refreshToken } = await rig.signIn();
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: true, revoked: 'yes' });
    const revokedBefore = rig.server.counters.revocations;
    gate.release();
    expect(await rig.advanceUntilSettled(call)).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
    expect(await rig.record()).toMatchObject({
      status: 'revoked',
      generation: 2,
      sealed: null,
      rtHash: null,
      atHash: null,
    });
    await rig.advanceUntilSettled(rig.vault.close());
    expect(rig.server.counters.revocations).toBeGreaterThan(revokedBefore);
    // Nothing that was ever given out lives on.
    const living = rig.server.secrets.filter(
      (secret) => rig.server.isCurrent(secret) || rig.server.inspect(secret),
    );
    expect(living).toEqual([]);
    expect(rig.server.isCurrent(refreshToken!)).toBe(false);
  });

  test('tells whether the authorization server did it', async () => {
    for (const [revocation, expected] of [
      ['token', 'yes'],
      ['fail', 'failed'],
    ] as const) {
      const rig = await createVaultRig({ authorization: { revocation } });
      await rig.signIn();
      expect(await rig.advanceUntilSettled(rig.vault.disconnect(credentialKey()))).toEqual({
        existed: true,
        revoked: expected,
      });
      expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: false, revoked: 'none' });
      expect(await rig.vault.token(credentialKey())).toMatchObject({
        kind: 'needs_reauth',
        reason: 'revoked',
      });
      await rig.close();
    }
    const rig = await createVaultRig();
    expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: false, revoked: 'none' });
    const { revocation: offered } = rig.endpoints;
    rig.endpoints.revocation = null;
    await rig.signIn();
    expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: true, revoked: 'unsupported' });
    rig.endpoints.revocation = offered;
    // With another client than it was given to nothing is sent.
    await rig.signIn();
    rig.definition.client = { ...rig.definition.client, clientId: 'other' };
    rig.definition.binding = { ...rig.definition.binding, clientId: 'other' };
    const before = rig.server.counters.revocations;
    expect(await rig.vault.disconnect(credentialKey())).toEqual({ existed: true, revoked: 'failed' });
    expect(rig.server.counters.revocations).toBe(before);
  });

  test('removes the row at once and revokes behind it', async () => {
    const rig = await createVaultRig();
    const { refreshToken } = await rig.signIn();
    const gate = rig.server.hold('revoke', 'before');
    expect(await rig.vault.remove(credentialKey())).toBe(true);
    expect(await rig.store.credentials.findById(credentialId(credentialKey()))).toBeNull();
    expect(await rig.vault.remove(credentialKey())).toBe(false);
    gate.release();
    await rig.advanceUntilSettled(rig.vault.close());
    expect(rig.server.isCurrent(refreshToken!)).toBe(false);
  });

  test('and signing in wait for nobody, however many wait for a refresh', async () => {
    const rig = await createVaultRig({ store: 'sqlite' });
    rig.endpoints.revocation = null;
    const keys = ['a', 'b', 'c', 'd', 'e'].map((user) => credentialKey(user));
    for (const key of keys) await rig.signIn(key);
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const readers = keys.flatMap((key) => Array.from({ length: 40 }, () => rig.vault.token(key)));
    await gate.arrived(keys.length);
    const fastest = new Map<string, number>();
    const timed = async (what: string, work: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await work();
      fastest.set(what, Math.min(fastest.get(what) ?? Infinity, performance.now() - startedAt));
    };
    for (const key of keys) {
      await timed('mark', () => rig.vault.requireSignIn(key, 'insufficient_scope'));
      await timed('sign out', () => rig.vault.disconnect(key));
      await timed('sign in', () => commit(rig, 2, key));
      await timed('remove', () => rig.vault.remove(key));
    }
    // Who stood in a line would stand there until the gate opens; the rest is the machine's load.
    expect([...fastest].filter(([, ms]) => ms >= 50)).toEqual([]);
    gate.release();
    for (const one of await rig.advanceUntilSettled(Promise.all(readers)))
      expect(one.kind).toBe('needs_reauth');
    expect(rig.server.counters.refreshHits).toBe(keys.length);
  });
});

describe('signing in again', () => {
  for (const [revokeOnReplace, isRevoked] of [
    ['never', false],
    ['per-token', true],
  ] as const) {
    test(`during a refresh wins; replaced pairs are revoked ${revokeOnReplace}`, async () => {
      const rig = await createVaultRig({
        profile: { revokeOnReplace },
        authorization: { revocation: 'token' },
      });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      const gate = rig.server.hold('token', 'after');
      const call = rig.vault.token(credentialKey());
      await gate.arrived();
      const { granted, outcome } = await commit(rig, 1);
      expect(outcome).toEqual({ kind: 'committed', id: credentialId(credentialKey()), generation: 2 });
      gate.release();
      expect(expectHeldToken(await rig.advanceUntilSettled(call)).accessToken).toBe(granted.accessToken);
      expect(await rig.record()).toMatchObject({
        generation: 2,
        tokenSeq: 1,
        status: 'active',
        id: credentialId(credentialKey()),
      });
      expect(rig.outcomes()).toEqual(['superseded']);
      await rig.advanceUntilSettled(rig.vault.close());
      // The old pair, and what its refresh brought.
      expect(rig.server.received('revoke').length > 0).toBe(isRevoked);
      expect(rig.server.isCurrent(granted.refreshToken!)).toBe(true);
      const living = rig.server.secrets.filter((secret) => rig.server.isCurrent(secret));
      expect(living).toHaveLength(isRevoked ? 1 : 2);
      expect(rig.server.inspect(granted.accessToken)).toBeDefined();
    });
  }

  test('of two at once the first wins, and a failure leaves the old one', async () => {
    const rig = await createVaultRig();
    const before = await rig.signIn();
    const { createdAt, isDefault } = await rig.record();
    rig.faults.failing.set('replace', Infinity);
    await expect(rig.advanceUntilSettled(commit(rig, 1))).rejects.toThrow();
    rig.faults.failing.clear();
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(before.accessToken);
    const first = await commit(rig, 1);
    const second = await commit(rig, 1);
    expect(first.outcome.kind).toBe('committed');
    expect(second.outcome).toEqual({ kind: 'superseded', generation: 2 });
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(
      first.granted.accessToken,
    );
    expect(await rig.record()).toMatchObject({
      createdAt,
      isDefault,
      generation: 2,
      scopesGranted: 'read',
    });
    expect((await commit(rig, 0)).outcome).toEqual({ kind: 'superseded', generation: 2 });
  });

  test('is not given up at the first failure of the store', async () => {
    const rig = await createVaultRig();
    rig.faults.failing.set('insert', 2);
    expect((await rig.advanceUntilSettled(commit(rig, 0))).outcome.kind).toBe('committed');
  });

  test('is asked for by a mark that keeps what lives', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    expect(await rig.vault.requireSignIn(credentialKey(), 'insufficient_scope')).toBe(true);
    expect(await rig.vault.requireSignIn(credentialKey(), 'insufficient_scope')).toBe(false);
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
    await rig.clock.advance(HOUR);
    expect(await rig.vault.token(credentialKey())).toMatchObject({ reason: 'insufficient_scope' });
    expect(rig.server.counters.tokenHits).toBe(0);
    expect(rig.events).toEqual([
      { kind: 'sign_in_needed', credential: credentialKey(), reason: 'insufficient_scope' },
    ]);
    expect(await rig.vault.requireSignIn(credentialKey('nobody'), 'rejected')).toBe(false);
  });
});

describe('a mark', () => {
  test('is not lost to a refresh that was under way', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    expect(await rig.vault.requireSignIn(credentialKey(), 'insufficient_scope')).toBe(true);
    gate.release();
    // Its pair is stored, or the refresh token would be lost.
    expectHeldToken(await rig.advanceUntilSettled(call));
    expect(await rig.record()).toMatchObject({
      status: 'rejected',
      reason: 'insufficient_scope',
      tokenSeq: 3,
    });
    const found = openTokens(rig.keyring, await rig.record());
    expect(rig.server.isCurrent(found!.refreshToken!.reveal())).toBe(true);
  });
});
