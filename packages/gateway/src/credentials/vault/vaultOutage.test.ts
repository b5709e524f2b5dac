import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  wait,
  createVaultRig,
} from '../../../test/vaultRig.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

describe('an outage', () => {
  test('without the store nothing is sent, and what lives is used for a while', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    // In the skew: it would be renewed.
    await rig.clock.advance(HOUR - 45_000);
    rig.server.respondNext('token', { status: 429, body: {} });
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken).toBe(
      accessToken,
    );
    rig.server.reset();
    const stopsAt = rig.clock.now();
    rig.faults.storeDown = true;
    rig.store.changes.syncedUntil = () => stopsAt;
    for (let i = 0; i < 5; i += 1) {
      expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
      await rig.clock.advance(5_500);
    }
    // It would live on, and nobody knows any more whether it should.
    await rig.clock.advance(2_500);
    expect(rig.clock.now() - stopsAt).toBe(30_000);
    expect(await rig.vault.token(credentialKey())).toEqual({
      kind: 'unavailable',
      reason: 'store',
      retryAfterMs: 1_000,
    });
    expect(await rig.vault.recover(credentialKey(), accessToken)).toMatchObject({
      kind: 'unavailable',
      reason: 'store',
    });
    expect(rig.server.counters.tokenHits).toBe(0);
    rig.faults.storeDown = false;
    await rig.clock.advance(60_000);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
  });

  test('what a notice told of is not used without the store', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    await rig.signIn();
    for (const { vault } of rig.replicas) expectHeldToken(await vault.token(credentialKey()));
    await rig.vault.disconnect(credentialKey());
    rig.faults.storeDown = true;
    expect(await rig.replicas[1]!.vault.token(credentialKey())).toMatchObject({
      kind: 'unavailable',
      reason: 'store',
    });
  });

  test('without leases the claim alone keeps it to one request', async () => {
    const rig = await createVaultRig({ replicas: 3 });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.leasesDown = true;
    const calls = rig.replicas.flatMap(({ vault }) =>
      Array.from({ length: 10 }, () => vault.token(credentialKey())),
    );
    for (const one of await rig.advanceUntilSettled(Promise.all(calls))) expectHeldToken(one);
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
  });

  test('an authorization server that is away changes no token and no status', async () => {
    const kinds = [
      ['500', { status: 500, body: 'no' }],
      ['503', { status: 503, headers: { 'retry-after': '7' }, body: 'no' }],
      ['429', { status: 429, body: { error: 'slow_down' } }],
      ['418', { status: 418, body: 'no' }],
      ['dns', undefined],
    ] as const;
    for (const [name, answer] of kinds) {
      const rig = await createVaultRig();
      if (!answer) rig.endpoints.token = 'https://nowhere.example.com/token';
      await rig.signIn();
      if (answer) rig.server.respondNext('token', answer, answer);
      await rig.clock.advance(HOUR);
      const before = await rig.record();
      const outcome = await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      expect([name, outcome]).toMatchObject([name, { kind: 'unavailable', reason: 'authorization_server' }]);
      const { sealed, rtHash, atHash, generation, tokenSeq, status, tokenExpiresAt, endpoints } = before;
      expect(await rig.record()).toMatchObject({
        ...{ sealed, rtHash, atHash, generation, tokenSeq, status, tokenExpiresAt, endpoints },
        claimOwner: null,
      });
      // Only what may have been consumed is in doubt.
      expect([name, (await rig.record()).rtSuspect]).toEqual([name, name === '500']);
      const hits = rig.server.counters.tokenHits;
      expect([name, hits]).toEqual([name, name === '500' ? 2 : answer ? 1 : 0]);
      // It is left alone for a while.
      expect(await rig.vault.token(credentialKey())).toMatchObject({ kind: 'unavailable' });
      expect(rig.server.counters.tokenHits).toBe(hits);
      await rig.close();
    }
  });

  test('an endpoint that stays away is asked more and more rarely', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.respondNext('token', ...Array.from({ length: 200 }, () => ({ status: 418, body: 'no' })));
    for (let passed = 0; passed < 600; passed += 1) {
      await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      await rig.clock.advance(1_000);
    }
    // 1, 2, 4 ... 60 s, each cut by chance to half of it at least.
    expect(rig.server.counters.refreshHits).toBeGreaterThan(10);
    expect(rig.server.counters.refreshHits).toBeLessThan(32);
  });

  test('who asks to be left alone is', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.respondNext('token', { status: 503, headers: { 'retry-after': '45' }, body: 'no' });
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
      retryAfterMs: 45_000,
    });
    await rig.clock.advance(44_000);
    expect(await rig.vault.token(credentialKey())).toMatchObject({
      kind: 'unavailable',
      retryAfterMs: 1_000,
    });
    await rig.clock.advance(1_000);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters.refreshHits).toBe(2);
  });

  test('an endpoint that is gone is looked for once, at the same issuer', async () => {
    const rig = await createVaultRig();
    const right = { ...rig.endpoints };
    rig.endpoints.token = `${rig.server.origin}/old/token`;
    const { refreshToken } = await rig.signIn();
    await rig.clock.advance(HOUR);
    let requestCount = 0;
    rig.definition.rediscover = async () => {
      requestCount += 1;
      return null;
    };
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
      kind: 'unavailable',
    });
    expect(requestCount).toBe(1);
    expect(rig.server.counters.tokenHits).toBe(0);
    expect(rig.server.isCurrent(refreshToken!)).toBe(true);
    expect(await rig.record()).toMatchObject({
      status: 'active',
      endpoints: rig.endpoints,
      rtSuspect: false,
    });
    rig.definition.rediscover = async () => right;
    await rig.clock.advance(60_000);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ endpoints: right, tokenSeq: 3 });
    expect(rig.server.counters.refreshHits).toBe(1);
  });
});

describe('an answer for the operator or the user', () => {
  test('a configured client that is refused costs no grant', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    const before = await rig.record();
    await rig.clock.advance(HOUR);
    rig.server.forgetClient('behalf');
    const misconfigured = { kind: 'misconfigured', error: 'invalid_client' };
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toEqual(misconfigured);
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toEqual(misconfigured);
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.record()).toMatchObject({
      status: 'active',
      sealed: before.sealed,
      rtHash: before.rtHash,
    });
    rig.server.addClient({ clientId: 'behalf', authMethod: 'none' });
    await rig.clock.advance(60_000);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
  });

  test('a client that we registered is registered anew, and its refresh tokens are over', async () => {
    const rig = await createVaultRig({
      client: { clientId: 'behalf', source: 'dynamic', auth: { method: 'none' } },
    });
    const { accessToken } = await rig.signIn();
    await rig.clock.advance(HOUR - 30_000);
    rig.server.forgetClient('behalf');
    rig.definition.reregister = async () => {
      rig.definition.binding = { ...rig.definition.binding, clientId: 'again' };
      rig.definition.client = { ...rig.definition.client, clientId: 'again' };
      return true;
    };
    // What lives is as good as before.
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken).toBe(
      accessToken,
    );
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken).toBe(
      accessToken,
    );
    await rig.clock.advance(30_000);
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
      kind: 'needs_reauth',
      reason: 'rejected',
    });
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('what the user must prove is told with the claims, and costs no grant', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const claims = '{"access_token":{"acrs":{"value":"c1"}}}';
    rig.server.respondNext('token', { status: 400, body: { error: 'interaction_required', claims } });
    const needs = { kind: 'needs_reauth', reason: 'interaction_required', claims };
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject(needs);
    expect(await rig.vault.token(credentialKey())).toMatchObject(needs);
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.record()).toMatchObject({ status: 'active' });
    await rig.clock.advance(60_000);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
  });
});

describe('the end of a process', () => {
  test('a refresh under way is stored first, and nothing new is begun', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.signIn(credentialKey('bob'));
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    expect(rig.vault.activeRenewals).toBe(1);
    let isClosed = false;
    const closing = rig.vault.close().then(() => void (isClosed = true));
    await wait(5);
    expect(isClosed).toBe(false);
    expect(await rig.vault.token(credentialKey('bob'))).toMatchObject({
      kind: 'unavailable',
      reason: 'closing',
    });
    gate.release();
    expectHeldToken(await call);
    await closing;
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null });
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.store.leases.findHolder(`cred:${(await rig.record()).id}`)).toBeNull();
  });

  test('what does not end is not waited for longer than it may take', async () => {
    const rig = await createVaultRig({ timings: { postMs: 16_000, claimMs: 26_000, leaseMs: 27_000 } });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const gate = rig.server.hold('token', 'after');
    void rig.vault.token(credentialKey());
    await gate.arrived();
    let isClosed = false;
    void rig.vault.close().then(() => (isClosed = true));
    await rig.clock.advance(14_900);
    expect(isClosed).toBe(false);
    expect(await rig.store.leases.findHolder(`cred:${(await rig.record()).id}`)).not.toBeNull();
    await rig.clock.advance(200);
    expect(isClosed).toBe(true);
    expect(await rig.store.leases.findHolder(`cred:${(await rig.record()).id}`)).toBeNull();
    gate.release();
  });
});
