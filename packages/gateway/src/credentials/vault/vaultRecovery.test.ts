import { HiddenText } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  createVaultRig,
  type VaultRigOptions,
} from '../../../test/vaultRig.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

describe('a token that a server refused', () => {
  test('ten refusals of one token are one refresh', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    expectHeldToken(await rig.vault.token(credentialKey()));
    const calls = Array.from({ length: 10 }, () => rig.vault.recover(credentialKey(), accessToken));
    const renewed = new Set(
      (await rig.advanceUntilSettled(Promise.all(calls))).map((one) => expectHeldToken(one).accessToken),
    );
    expect(renewed.size).toBe(1);
    expect(renewed.has(accessToken)).toBe(false);
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
    // Who comes late finds another one stored.
    expect(
      renewed.has(expectHeldToken(await rig.vault.recover(credentialKey(), accessToken)).accessToken),
    ).toBe(true);
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('another one that is stored already is taken without a request', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    const { accessToken } = await rig.signIn();
    const [first, second] = rig.replicas;
    for (const { vault } of rig.replicas) expectHeldToken(await vault.token(credentialKey()));
    const renewed = expectHeldToken(
      await rig.advanceUntilSettled(first!.vault.recover(credentialKey(), accessToken)),
    ).accessToken;
    rig.server.reset();
    expect(expectHeldToken(await second!.vault.recover(credentialKey(), accessToken)).accessToken).toBe(
      renewed,
    );
    expect(rig.server.counters.tokenHits).toBe(0);
  });

  test('a refresh under way that ends with the refused token does not count', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    await rig.clock.advance(HOUR - 30_000);
    // The refresh fails and falls back on the token that lives.
    rig.server.respondNext('token', { status: 503, headers: { 'retry-after': '1' }, body: 'no' });
    const gate = rig.server.hold('token', 'before');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    const recovered = rig.vault.recover(credentialKey(), accessToken);
    gate.release();
    expect(expectHeldToken(await rig.advanceUntilSettled(call)).accessToken).toBe(accessToken);
    // It was refused: it is not given out again.
    expect(await rig.advanceUntilSettled(recovered)).toMatchObject({
      kind: 'unavailable',
      reason: 'authorization_server',
    });
    await rig.clock.advance(1_000);
    const next = expectHeldToken(
      await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), accessToken)),
    );
    expect(next.accessToken).not.toBe(accessToken);
  });

  test('a new one that is refused as well is the server’s policy, for half a minute', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    const second = expectHeldToken(
      await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), accessToken)),
    ).accessToken;
    const hopeless = { kind: 'needs_reauth', reason: 'audience_or_policy' };
    await rig.clock.advance(20_000);
    expect(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), second))).toMatchObject(hopeless);
    // From the refusal on, not from its making.
    await rig.clock.advance(20_000);
    expect(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), second))).toMatchObject(hopeless);
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.record()).toMatchObject({ status: 'active', reason: null, tokenSeq: 2 });
    await rig.clock.advance(10_000);
    expect(
      expectHeldToken(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), second))).accessToken,
    ).not.toBe(second);
    expect(rig.server.counters.refreshHits).toBe(2);
  });

  test('also when a peer had renewed it', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    const { accessToken } = await rig.signIn();
    const [first, second] = rig.replicas;
    expectHeldToken(await rig.advanceUntilSettled(first!.vault.recover(credentialKey(), accessToken)));
    const usedToken = expectHeldToken(await second!.vault.recover(credentialKey(), accessToken)).accessToken;
    expect(await second!.vault.recover(credentialKey(), usedToken)).toMatchObject({
      reason: 'audience_or_policy',
    });
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('without a way to another one the reason is told, and nothing is sent', async () => {
    const rig = await createVaultRig();
    expect(await rig.vault.recover(credentialKey('nobody'), 'at')).toMatchObject({
      kind: 'needs_reauth',
      reason: 'absent',
    });
    const { accessToken } = await rig.signIn(credentialKey(), { refreshToken: undefined });
    expect(await rig.vault.recover(credentialKey(), accessToken)).toMatchObject({
      reason: 'expired_no_refresh',
    });
    const statik = credentialKey('alice', { kind: 'static' });
    const brought = await rig.signIn(statik, { refreshToken: undefined, expiresInS: null });
    expect(expectHeldToken(await rig.vault.token(statik)).accessToken).toBe(brought.accessToken);
    expect(await rig.vault.recover(statik, brought.accessToken)).toMatchObject({
      reason: 'static_rejected',
    });
    // It was never marked: a server that errs once costs nobody their token.
    expect(await rig.record(statik)).toMatchObject({ status: 'active' });
    expect(rig.server.counters.tokenHits).toBe(0);
  });

  test('an outage stays an outage', async () => {
    const rig = await createVaultRig();
    const { accessToken } = await rig.signIn();
    rig.server.respondNext('token', { status: 503, headers: { 'retry-after': '9' }, body: 'no' });
    expect(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), accessToken))).toEqual({
      kind: 'unavailable',
      reason: 'authorization_server',
      retryAfterMs: 9_000,
    });
    expect(await rig.record()).toMatchObject({ status: 'active', tokenSeq: 1 });
  });
});

describe('a token of our own', () => {
  const secret = 'app-secret-4711';
  const confidential: VaultRigOptions = {
    client: {
      clientId: 'behalf',
      source: 'configured',
      auth: { method: 'client_secret_basic', secret: new HiddenText(secret) },
    },
    authorization: { clients: [{ clientId: 'behalf', authMethod: 'client_secret_basic', secret }] },
  };
  const app = credentialKey('-', { principal: '@app', kind: 'client_credentials' });

  test('is asked for when there is none, once for all, and again before its end', async () => {
    const rig = await createVaultRig({ ...confidential, replicas: 2 });
    const calls = rig.replicas.flatMap(({ vault }) => Array.from({ length: 10 }, () => vault.token(app)));
    const tokens = new Set(
      (await rig.advanceUntilSettled(Promise.all(calls))).map((one) => expectHeldToken(one).accessToken),
    );
    expect(tokens.size).toBe(1);
    const [request] = rig.server.received('token');
    expect(request!.form).toMatchObject({ grant_type: 'client_credentials', scope: 'app' });
    expect(await rig.record(app)).toMatchObject({
      rtHash: null,
      generation: 1,
      tokenSeq: 1,
      principal: '@app',
    });
    await rig.clock.advance(HOUR);
    expect(tokens.has(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(app))).accessToken)).toBe(
      false,
    );
    expect(await rig.record(app)).toMatchObject({ generation: 1, tokenSeq: 2 });
    expect(rig.server.counters.tokenHits).toBe(2);
  });

  test('follows the definition and a refusal', async () => {
    const rig = await createVaultRig(confidential);
    const first = expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(app))).accessToken;
    const second = expectHeldToken(await rig.advanceUntilSettled(rig.vault.recover(app, first))).accessToken;
    expect(second).not.toBe(first);
    rig.definition.binding = { ...rig.definition.binding, canonicalUrl: 'https://files.example.com/v2' };
    await rig.store.changes.publish({ topic: 'servers', id: 'files' });
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(app))).accessToken).not.toBe(second);
    expect(await rig.record(app)).toMatchObject({
      generation: 2,
      canonicalUrl: 'https://files.example.com/v2',
    });
    rig.server.forgetClient('behalf');
    await rig.clock.advance(HOUR);
    expect(await rig.advanceUntilSettled(rig.vault.token(app))).toEqual({
      kind: 'misconfigured',
      error: 'invalid_client',
    });
    expect(await rig.advanceUntilSettled(rig.vault.token(app))).toEqual({
      kind: 'misconfigured',
      error: 'invalid_client',
    });
    expect(rig.server.counters.tokenHits).toBe(4);
  });
});
