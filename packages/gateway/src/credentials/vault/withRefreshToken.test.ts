import { LightCancellation } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  createVaultRig,
} from '../../../test/vaultRig.ts';
import type { CredentialVault, BorrowedToken, BorrowResult } from './vault.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

/** As a provider that gives another with every use: whoever comes with a used one ends the whole family. */
async function useToken(borrowed: BorrowedToken): Promise<BorrowResult<string>> {
  const body = new URLSearchParams({
    ...{
      grant_type: 'refresh_token',
      client_id: borrowed.clientId,
      refresh_token: borrowed.reveal().reveal(),
    },
  });
  const answer = await fetch(borrowed.endpoint, { method: 'POST', body });
  const { refresh_token: rotatedToken = '', error = 'ok' } = (await answer.json()) as Record<string, string>;
  return { value: error, ...(rotatedToken !== '' && { rotatedToken }) };
}

/** Of who does not leave. */
const staying = new LightCancellation();

const used = (value: string) => ({ kind: 'used', value });

/** What is in its place now, without using it up. */
async function shown(vault: CredentialVault): Promise<string> {
  let text = '';
  await vault.withRefreshToken(credentialKey(), staying, async (borrowed) => {
    text = borrowed.reveal().reveal();
    return { value: '' };
  });
  return text;
}

describe.each(['memory', 'sqlite'] as const)('a refresh token that is lent, on %s', (store) => {
  test('is nobody else’s meanwhile, a renewal’s least of all', async () => {
    const rig = await createVaultRig({ replicas: 3, store });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const uses = rig.replicas.flatMap(({ vault }) => [
      ...Array.from({ length: 4 }, () => vault.withRefreshToken(credentialKey(), staying, useToken)),
      ...Array.from({ length: 4 }, () => vault.token(credentialKey())),
    ]);
    const outcomes = await rig.advanceUntilSettled(Promise.all<{ kind: string }>(uses));
    expect(outcomes.filter(({ kind }) => kind === 'used')).toEqual(Array(12).fill(used('ok')));
    expect(outcomes.filter(({ kind }) => kind === 'token')).toHaveLength(12);
    // Twelve uses and one renewal, and none of them with a used one.
    expect(rig.server.counters).toMatchObject({ refreshHits: 13, rotations: 13, familyRevocations: 0 });
    expect(await rig.record()).toMatchObject({ status: 'active', claimOwner: null, rtSuspect: false });
  });

  test('has its successor stored, and the access token stays as it was', async () => {
    const rig = await createVaultRig({ replicas: 2, store });
    const { accessToken } = await rig.signIn();
    const before = await rig.record();
    expect(await rig.vault.withRefreshToken(credentialKey(), staying, useToken)).toEqual(used('ok'));
    const { issuedAt, lifetimeMs, tokenExpiresAt, atHash } = before;
    const after = await rig.record();
    expect(after).toMatchObject({ issuedAt, lifetimeMs, tokenExpiresAt, atHash, tokenSeq: 2 });
    expect(after.rtHash).not.toBe(before.rtHash);
    const [, other] = rig.replicas;
    expect(expectHeldToken(await other!.vault.token(credentialKey()))).toMatchObject({
      accessToken,
      isRenewable: true,
    });
    // It is the one that a renewal sends.
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(other!.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });
});

describe('a refresh token that is lent', () => {
  test('has its successor ended when its user signed out meanwhile', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const outcome = await rig.vault.withRefreshToken(credentialKey(), staying, async (borrowed) => {
      const returned = await useToken(borrowed);
      await rig.vault.remove(credentialKey());
      return returned;
    });
    expect(outcome).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
    await rig.vault.close();
    expect(rig.server.received('revoke').length).toBeGreaterThan(0);
    expect(await rig.store.credentials.find(credentialKey())).toBeNull();
  });

  test('has its successor kept while the store does not answer', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    rig.faults.failing.set('replace', 2);
    expect(
      await rig.advanceUntilSettled(rig.vault.withRefreshToken(credentialKey(), staying, useToken)),
    ).toEqual(used('ok'));
    expect(
      await rig.advanceUntilSettled(rig.vault.withRefreshToken(credentialKey(), staying, useToken)),
    ).toEqual(used('ok'));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('whose answer was lost is not sent again before a renewal took it', async () => {
    const rig = await createVaultRig({ authorization: { rotation: 'keep' } });
    await rig.signIn();
    const lost = rig.vault.withRefreshToken(credentialKey(), staying, async (borrowed) => {
      borrowed.reveal();
      throw new Error('the answer is lost');
    });
    await expect(lost).rejects.toThrow('the answer is lost');
    expect(await rig.record()).toMatchObject({ rtSuspect: true, reason: 'in_doubt', claimOwner: null });
    expect(rig.server.counters.refreshHits).toBe(0);
    expect(
      await rig.advanceUntilSettled(
        rig.vault.withRefreshToken(credentialKey(), staying, async () => ({ value: 'ok' })),
      ),
    ).toEqual(used('ok'));
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('that was never sent is in no doubt, and its turn is over', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const failed = rig.vault.withRefreshToken(credentialKey(), staying, () =>
      Promise.reject(new Error('before it was sent')),
    );
    await expect(failed).rejects.toThrow('before it was sent');
    expect(await rig.record()).toMatchObject({ rtSuspect: false, claimOwner: null, tokenSeq: 1 });
  });

  test('is not sent by who was stopped for too long', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const outcome = await rig.vault.withRefreshToken(credentialKey(), staying, async (borrowed) => {
      await rig.clock.advance(8_000);
      return { value: borrowed.reveal().reveal() };
    });
    expect(outcome).toMatchObject({ kind: 'unavailable', reason: 'refresh_busy' });
    expect(await rig.record()).toMatchObject({ rtSuspect: false, claimOwner: null });
  });

  test('is the one that is stored, and none where there is none', async () => {
    const rig = await createVaultRig();
    const { refreshToken } = await rig.signIn();
    expect(await shown(rig.vault)).toBe(refreshToken);
    const work = async () => ({ value: 'never' });
    expect(await rig.vault.withRefreshToken(credentialKey('bob'), staying, work)).toMatchObject({
      kind: 'needs_reauth',
      reason: 'absent',
    });
    await rig.signIn(credentialKey('carol'), { refreshToken: undefined });
    expect(await rig.vault.withRefreshToken(credentialKey('carol'), staying, work)).toMatchObject({
      reason: 'expired_no_refresh',
    });
    // Refused there: the access token lives on, and the refresh token does not come back with it.
    rig.server.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    await rig.advanceUntilSettled(
      rig.vault.recover(credentialKey(), expectHeldToken(await rig.vault.token(credentialKey())).accessToken),
    );
    expect(await rig.vault.withRefreshToken(credentialKey(), staying, work)).toMatchObject({
      kind: 'needs_reauth',
      reason: 'rejected',
    });
    await rig.vault.remove(credentialKey());
    expect(await rig.vault.withRefreshToken(credentialKey(), staying, work)).toMatchObject({
      kind: 'needs_reauth',
    });
  });

  test('is not waited for by who left', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    let finish: (returned: BorrowResult<string>) => void = () => undefined;
    const first = new Promise<BorrowResult<string>>((resolve) => (finish = resolve));
    const using = rig.vault.withRefreshToken(credentialKey(), staying, () => first);
    const leaving = new LightCancellation();
    let startCount = 0;
    const left = rig.vault.withRefreshToken(credentialKey(), leaving, async () => ({
      value: String((startCount += 1)),
    }));
    const next = rig.vault.withRefreshToken(credentialKey(), staying, useToken);
    leaving.abort(new Error('gave up'));
    await expect(left).rejects.toThrow('gave up');
    finish({ value: 'first' });
    expect(await rig.advanceUntilSettled(Promise.all([using, next]))).toEqual([used('first'), used('ok')]);
    expect(startCount).toBe(0);
  });

  test('is not renewed for who left while another process had it', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const { id, generation, tokenSeq, rtHash } = await rig.record();
    const wish = { generation, tokenSeq, rtHash: rtHash!, owner: 'another', ttlMs: 5_000 };
    expect(await rig.store.credentials.claim(id, wish)).not.toBeNull();
    const leaving = new LightCancellation();
    const left = rig.vault.withRefreshToken(credentialKey(), leaving, async () => ({ value: 'never' }));
    const outcome = expect(left).rejects.toThrow('gave up');
    await rig.clock.advance(1_000);
    leaving.abort(new Error('gave up'));
    // Whoever had it never came back: who takes over has to renew.
    await rig.clock.advance(10_000);
    await rig.advanceUntilSettled(outcome);
    expect(rig.server.counters.refreshHits).toBe(0);
  });

  test('is not taken by who left, and is in no doubt for it', async () => {
    const rig = await createVaultRig();
    const { refreshToken } = await rig.signIn();
    const leaving = new LightCancellation();
    const left = rig.vault.withRefreshToken(credentialKey(), leaving, async (borrowed) => {
      leaving.abort(new Error('gave up'));
      return { value: borrowed.reveal().reveal() };
    });
    await expect(left).rejects.toThrow('gave up');
    expect(await rig.record()).toMatchObject({ rtSuspect: false, claimOwner: null, tokenSeq: 1 });
    // Whoever comes next has nothing to make up for.
    expect(await shown(rig.vault)).toBe(refreshToken);
    expect(rig.server.counters.refreshHits).toBe(0);
  });
});
