import { LightCancellation } from '@behalf/kernel';
import { oauthHash } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  wait,
  RESOURCE,
  createVaultRig,
} from '../../../test/vaultRig.ts';
import { credentialId } from '../../ports/index.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

describe.each(['memory', 'sqlite'] as const)('a refresh on %s', (store) => {
  test('many callers in several vaults at once send one refresh token', async () => {
    const rig = await createVaultRig({ replicas: 3, store });
    const granted = await rig.signIn();
    await rig.clock.advance(HOUR);
    const calls = rig.replicas.flatMap(({ vault }) =>
      Array.from({ length: 20 }, () => vault.token(credentialKey())),
    );
    const tokens = new Set(
      (await rig.advanceUntilSettled(Promise.all(calls))).map((one) => expectHeldToken(one).accessToken),
    );
    expect(tokens.size).toBe(1);
    expect(tokens.has(granted.accessToken)).toBe(false);
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, rotations: 1, familyRevocations: 0 });
    expect(await rig.record()).toMatchObject({
      status: 'active',
      tokenSeq: 2,
      claimOwner: null,
      claimSeq: 1,
    });
    expect(rig.outcomes()).toEqual(['ok']);
  });

  test('twenty rotations in a row lose nothing', async () => {
    const rig = await createVaultRig({ replicas: 2, store, authorization: { lifetimeS: 20 } });
    await rig.signIn();
    for (let round = 1; round <= 20; round += 1) {
      await rig.clock.advance(20_000);
      const calls = rig.replicas.map(({ vault }) => vault.token(credentialKey()));
      for (const one of await rig.advanceUntilSettled(Promise.all(calls))) expectHeldToken(one);
      expect(rig.server.counters).toMatchObject({ refreshHits: round, familyRevocations: 0 });
    }
  });
});

describe('a token', () => {
  test('is found without a store while it is known and fresh', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    expect(rig.vault.peek(credentialKey())).toBeUndefined();
    expect(expectHeldToken(await rig.vault.token(credentialKey()))).toMatchObject({
      accessToken,
      canonicalUrl: RESOURCE,
      scopes: 'read write',
      usableUntil: rig.clock.now() + HOUR - 60_000,
    });
    rig.faults.storeDown = true;
    expect(rig.vault.peek(credentialKey())).toMatchObject({ accessToken });
    expect(rig.vault.peek(credentialKey('bob'))).toBeUndefined();
  });

  test('that another process stored is used as soon as it is told', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    await rig.signIn();
    const [, other] = rig.replicas;
    expectHeldToken(await other!.vault.token(credentialKey()));
    const { accessToken } = await rig.signIn();
    expect(other!.vault.peek(credentialKey())).toBeUndefined();
    expect(expectHeldToken(await other!.vault.token(credentialKey()))).toMatchObject({
      accessToken,
      generation: 2,
    });
  });

  test('that nobody has is no token', async () => {
    const rig = await createVaultRig();
    expect(await rig.vault.token(credentialKey())).toEqual({
      kind: 'needs_reauth',
      reason: 'absent',
      credentialId: undefined,
    });
    await rig.signIn();
    expectHeldToken(await rig.vault.token(credentialKey()));
  });

  test('without a refresh token is used to its end, then its user is asked', async () => {
    const rig = await createVaultRig();
    await rig.signIn(credentialKey(), { refreshToken: undefined });
    await rig.clock.advance(HOUR - 1);
    expectHeldToken(await rig.vault.token(credentialKey()));
    await rig.clock.advance(1);
    expect(await rig.vault.token(credentialKey())).toMatchObject({
      kind: 'needs_reauth',
      reason: 'expired_no_refresh',
    });
    expect(rig.server.counters.tokenHits).toBe(0);
  });

  test('a caller who leaves stops nothing', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const leaving = new LightCancellation();
    const left = rig.vault.token(credentialKey(), { signal: leaving });
    const stays = rig.vault.token(credentialKey());
    await gate.arrived();
    leaving.abort(new Error('had enough'));
    await expect(left).rejects.toThrow('had enough');
    gate.release();
    expectHeldToken(await rig.advanceUntilSettled(stays));
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null });

    // Also the only one.
    await rig.clock.advance(HOUR);
    const cancellation = new LightCancellation();
    const second = rig.server.hold('token', 'after');
    const abortedCall = rig.vault.token(credentialKey(), { signal: cancellation });
    await second.arrived();
    cancellation.abort(new Error('gone'));
    await expect(abortedCall).rejects.toThrow('gone');
    second.release();
    await rig.advanceUntilSettled(untilSeq(rig, 3));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('who waits in vain sends nothing', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const [holder, waiter] = rig.replicas;
    const gate = rig.server.hold('token', 'after');
    const first = holder!.vault.token(credentialKey());
    await gate.arrived();
    holder!.freeze();
    // Held up in its own process, with a lease that somebody renews for it.
    const record = await rig.record();
    const storeClaim = rig.store.credentials.extendClaim(
      record.id,
      record.claimSeq,
      record.claimOwner!,
      10 * HOUR,
    );
    expect(await storeClaim).toBe(true);
    const second = waiter!.vault.token(credentialKey());
    await rig.clock.advance(31_000);
    expect(await second).toEqual({ kind: 'unavailable', reason: 'refresh_busy', retryAfterMs: 1_000 });
    expect(rig.server.counters.refreshHits).toBe(1);
    gate.release();
    await wait(20);
    holder!.thaw();
    expectHeldToken(await rig.advanceUntilSettled(first));
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
  });

  test('a write beside a refresh does not cost it its place', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    const { id, generation, version } = await rig.record();
    await rig.store.credentials.makeDefault(id);
    await rig.store.credentials.replace(id, { generation }, { scopesRequested: 'read' });
    await rig.store.credentialUsage.put({ id, lastUsedAt: 1, lastOutcome: 'ok', refreshes: 7 });
    expect((await rig.record()).version).toBeGreaterThan(version);
    gate.release();
    expectHeldToken(await rig.advanceUntilSettled(call));
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, status: 'active', scopesRequested: 'read' });
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
  });

  test('what an answer leaves out stays as it was', async () => {
    const rig = await createVaultRig({ authorization: { omitRefreshToken: true, omitScope: true } });
    await rig.signIn();
    const { rtHash, atHash } = await rig.record();
    await rig.clock.advance(HOUR);
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).scopes).toBe(
      'read write',
    );
    const record = await rig.record();
    expect(record).toMatchObject({ rtHash, scopesGranted: 'read write', tokenSeq: 2, rtSuspect: false });
    expect(record.atHash).not.toBe(atHash);
    // And it is good for another one.
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('lifetimes are read as they come', async () => {
    const cases = [
      [0, 0],
      [-5, 0],
      ['600', 600_000],
      [null, null],
      [20, 20_000],
    ] as const;
    for (const [expiresIn, lifetimeMs] of cases) {
      const rig = await createVaultRig({ authorization: { expiresIn } });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      const sentAt = rig.clock.now();
      // However short it lives: who asked gets it.
      expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
      const expectedEnd = lifetimeMs === null ? null : sentAt + lifetimeMs;
      expect(await rig.record()).toMatchObject({ lifetimeMs, tokenExpiresAt: expectedEnd });
      // Used and short: it would be renewed early, if it lived long enough for that.
      if (lifetimeMs === 20_000) expectHeldToken(await rig.vault.token(credentialKey()));
      await rig.clock.advance(18_500);
      await settled(rig);
      const isOver = lifetimeMs !== null && lifetimeMs - lifetimeMs / 10 <= 18_500;
      // Nothing was renewed before anybody asked.
      expect(rig.server.counters.refreshHits).toBe(1);
      const next = await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      if (lifetimeMs === null)
        expect(expectHeldToken(next)).toMatchObject({ usableUntil: Infinity, expiresAt: null });
      expect(rig.server.counters.refreshHits).toBe(isOver ? 2 : 1);
      await rig.close();
    }
  });

  test('those who signed in together are not renewed together', async () => {
    const rig = await createVaultRig({ authorization: { lifetimeS: 1_000 } });
    const users = Array.from({ length: 500 }, (_, i) => credentialKey(`user-${i}`));
    for (const key of users) await rig.signIn(key);
    await rig.clock.advance(799_000);
    expect(rig.server.counters.refreshHits).toBe(0);
    // 0.80 to 0.92 of the lifetime: 120 s in all.
    let most = 0;
    for (let passed = 0; passed < 122; passed += 1) {
      const before = rig.server.counters.refreshHits;
      await rig.clock.advance(1_000);
      await settled(rig);
      most = Math.max(most, rig.server.counters.refreshHits - before);
    }
    expect(rig.server.counters).toMatchObject({ refreshHits: 500, familyRevocations: 0 });
    expect(most).toBeLessThan(20);
  }, 60_000);

  test('what nobody has used for half an hour is not renewed', async () => {
    const rig = await createVaultRig({ authorization: { lifetimeS: 4 * HOUR_S } });
    await rig.signIn();
    await rig.clock.advance(4 * HOUR);
    await settled(rig);
    expect(rig.server.counters.refreshHits).toBe(0);
  });

  test('an early refresh that is refused changes nothing while the token lives', async () => {
    const rig = await createVaultRig({ replicas: 2, authorization: { lifetimeS: 1_000 } });
    const { accessToken } = await rig.signIn();
    const early = { status: 400, body: { error: 'invalid_grant' } };
    rig.server.respondNext('token', early);
    for (const { vault } of rig.replicas) expectHeldToken(await vault.token(credentialKey()));
    await rig.clock.advance(925_000);
    await settled(rig);
    // Once in all processes.
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(rig.outcomes()).toEqual(['early_refused']);
    for (const { vault } of rig.replicas)
      expect(expectHeldToken(await vault.token(credentialKey())).accessToken).toBe(accessToken);
    expect(await rig.record()).toMatchObject({ status: 'active', tokenSeq: 1, claimOwner: null });
    await rig.clock.advance(75_000);
    expect(
      expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken,
    ).not.toBe(accessToken);
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('a refresh names the resource of the grant, also from a cold process', async () => {
    const rig = await createVaultRig({ authorization: { resource: 'require' } });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    // Whatever the definition would send for a new grant.
    rig.definition.form = { resource: 'https://elsewhere.example.com', audience: 'files' };
    const cold = rig.startReplica();
    expectHeldToken(await rig.advanceUntilSettled(cold.vault.token(credentialKey())));
    const [request] = rig.server.received('token');
    expect(request!.form).toMatchObject({
      resource: RESOURCE,
      audience: 'files',
      grant_type: 'refresh_token',
      client_id: 'behalf',
    });
    expect(request!.form['refresh_token']).toBe(oauthHash(await firstRefreshToken()));

    async function firstRefreshToken(): Promise<string> {
      return rig.server.secrets.find((secret) => oauthHash(secret) === request!.form['refresh_token']) ?? '';
    }
  });
});

async function settled(rig: Awaited<ReturnType<typeof createVaultRig>>): Promise<void> {
  await rig.advanceUntilSettled(
    (async () => {
      await wait(5);
      while (rig.replicas.some(({ vault }) => vault.activeRenewals > 0)) await wait(2);
    })(),
    1,
  );
}

async function untilSeq(rig: Awaited<ReturnType<typeof createVaultRig>>, tokenSeq: number): Promise<void> {
  while ((await rig.store.credentials.findById(credentialId(credentialKey())))?.tokenSeq !== tokenSeq)
    await wait(2);
}
