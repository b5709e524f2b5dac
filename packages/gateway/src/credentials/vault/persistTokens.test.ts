import { eventually, oauthHash } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  wait,
  toTokenSet,
  createVaultRig,
  type VaultRig,
} from '../../../test/vaultRig.ts';
import { credentialId } from '../../ports/index.ts';
import { openTokens } from './tokenPair.ts';
import { casTokens } from './persist.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;
const id = credentialId(credentialKey());

const isPendingStored = (rig: VaultRig) =>
  eventually('the pair to lie aside', async () => (await rig.store.pendingWrites.find(id)) !== null);

describe('a pair that was not stored at once', () => {
  for (const how of ['fails', 'hangs'] as const) {
    test(`lies aside while the store ${how}, for whoever comes next`, async () => {
      const rig = await createVaultRig({ replicas: 2 });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      const [holder, heir] = rig.replicas;
      const replace = rig.store.credentials.replace.bind(rig.store.credentials);
      if (how === 'fails') rig.faults.failing.set('replace', Infinity);
      else rig.store.credentials.replace = () => new Promise(() => undefined);
      void holder!.vault.token(credentialKey());
      if (how === 'hangs') {
        await eventually('the answer', () => rig.server.counters.rotations === 1);
        await wait(20);
        await rig.clock.advance(1_000);
      }
      await isPendingStored(rig);
      // It dies here, long before it would have given up.
      holder!.freeze();
      rig.faults.failing.clear();
      rig.store.credentials.replace = replace;
      await rig.clock.advance(26_000);
      expectHeldToken(await rig.advanceUntilSettled(heir!.vault.token(credentialKey())));
      expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
      expect(await rig.record()).toMatchObject({ tokenSeq: 2, rtSuspect: false, claimOwner: null });
      expect(await rig.store.pendingWrites.find(id)).toBeNull();
    });
  }

  test('does not lie there any more once it is stored', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', 3);
    const call = rig.vault.token(credentialKey());
    await isPendingStored(rig);
    expectHeldToken(await rig.advanceUntilSettled(call));
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null });
    expect(await rig.store.pendingWrites.find(id)).toBeNull();
    expect(rig.events.map(({ kind }) => kind)).not.toContain('persist_failed');
  });

  test('is known to the process that has it, if nobody else could', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', Infinity);
    rig.faults.pendingWritesDown = true;
    const { accessToken } = expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    // Nothing lies aside, and the claim is over.
    expect(await rig.store.pendingWrites.find(id)).toBeNull();
    await rig.clock.advance(26_000);
    await rig.store.changes.publish({ topic: 'credentials', id });
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
    rig.faults.pendingWritesDown = false;
    expect(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), accessToken))).toMatchObject({
      kind: 'unavailable',
      reason: 'store',
    });
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
    // When it has to be renewed, it is stored first.
    rig.faults.failing.clear();
    expect(
      expectHeldToken(await rig.advanceUntilSettled(rig.vault.recover(credentialKey(), accessToken)))
        .accessToken,
    ).not.toBe(accessToken);
    expect(await rig.record()).toMatchObject({ tokenSeq: 3, rtSuspect: false });
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('is revoked when its user signed out meanwhile', async () => {
    for (const isHere of [true, false]) {
      const rig = await createVaultRig({ replicas: 2 });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      const [holder, other] = rig.replicas;
      rig.faults.failing.set('replace', Infinity);
      rig.faults.pendingWritesDown = true;
      expectHeldToken(await rig.advanceUntilSettled(holder!.vault.token(credentialKey())));
      rig.faults.failing.clear();
      // Elsewhere nobody can know of it: the one who holds it finds out.
      const ended = await (isHere ? holder! : other!).vault.disconnect(credentialKey());
      expect(ended).toEqual({ existed: true, revoked: 'yes' });
      if (isHere) expect(livingOf(rig)).toEqual([]);
      await rig.clock.advance(5_000);
      await eventually('it to be revoked', () => livingOf(rig).length === 0);
      expect(await rig.record()).toMatchObject({ status: 'revoked', generation: 2 });
      await rig.close();
    }
  });
});

function livingOf({ server }: VaultRig): string[] {
  return server.secrets.filter((secret) => server.isCurrent(secret) || server.inspect(secret));
}

describe('a claim', () => {
  /** The first who would claim is held up there. */
  function heldUp(rig: VaultRig) {
    const claim = rig.store.credentials.claim.bind(rig.store.credentials);
    let goOn = () => {};
    let isThere = false;
    rig.store.credentials.claim = async (...args) => {
      if (!isThere) {
        isThere = true;
        await new Promise<void>((resolve) => (goOn = resolve));
      }
      return claim(...args);
    };
    return { arrived: () => eventually('the claim', () => isThere), goOn: () => goOn() };
  }

  test('is for the pair that was read: where refresh tokens stay the same, a faster one is seen too', async () => {
    const rig = await createVaultRig({ replicas: 2, authorization: { omitRefreshToken: true } });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.leasesDown = true;
    const [slow, fast] = rig.replicas;
    const gate = heldUp(rig);
    const late = slow!.vault.token(credentialKey());
    await gate.arrived();
    const { accessToken } = expectHeldToken(
      await rig.advanceUntilSettled(fast!.vault.token(credentialKey())),
    );
    gate.goOn();
    expect(expectHeldToken(await rig.advanceUntilSettled(late)).accessToken).toBe(accessToken);
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
  });

  test('sees the doubt that another left since the record was read', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    const { accessToken } = await rig.signIn();
    // Within the skew: it is renewed although it still lives.
    await rig.clock.advance(HOUR - 59_000);
    rig.faults.leasesDown = true;
    rig.server.change({ dropAnswers: 1 });
    const [slow, fast] = rig.replicas;
    const gate = heldUp(rig);
    const late = slow!.vault.token(credentialKey());
    await gate.arrived();
    expect(
      expectHeldToken(await rig.advanceUntilSettled(fast!.vault.token(credentialKey()))).accessToken,
    ).toBe(accessToken);
    gate.goOn();
    expect(expectHeldToken(await rig.advanceUntilSettled(late)).accessToken).toBe(accessToken);
    expect(rig.server.counters).toMatchObject({ refreshHits: 1, familyRevocations: 0 });
    expect(await rig.record()).toMatchObject({ rtSuspect: true, status: 'active' });
  });
});

describe('a refusal', () => {
  test('of a refresh token that a peer has replaced in the same grant', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    const gate = rig.server.hold('token', 'before');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    // As a peer does that was frozen past its claim, and holds what came for the same refresh token.
    const record = await rig.record();
    const granted = rig.server.grant({ clientId: 'behalf', scope: 'read write' });
    const received = { tokens: toTokenSet(granted), sentAt: rig.clock.now(), isInDoubt: false };
    const before = openTokens(rig.keyring, record)!;
    const parts = { store: rig.store.credentials, keyring: rig.keyring };
    expect(await casTokens(parts, record, before, received)).toMatchObject({ kind: 'saved' });
    gate.release();
    expect(expectHeldToken(await rig.advanceUntilSettled(call)).accessToken).toBe(granted.accessToken);
    const storedRecord = await rig.record();
    expect(storedRecord).toMatchObject({ status: 'active', generation: 1, tokenSeq: 2 });
    expect(storedRecord.rtHash).not.toBe(record.rtHash);
    expect(rig.server.counters.refreshHits).toBe(1);
  });
});

describe('a refresh token in an answer', () => {
  const answer = (refresh_token: unknown) => ({
    status: 200,
    body: { access_token: 'at-2', token_type: 'bearer', expires_in: HOUR_S, refresh_token },
  });

  test('is kept whatever is in it that can be sent', async () => {
    for (const token of ['with a blank', 'x'.repeat(40_000)]) {
      const rig = await createVaultRig();
      await rig.signIn();
      await rig.clock.advance(HOUR);
      rig.server.respondNext('token', answer(token));
      expect(
        expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken,
      ).toBe('at-2');
      expect(await rig.record()).toMatchObject({ rtSuspect: false });
      await rig.clock.advance(HOUR);
      await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      expect(rig.server.received('token').at(-1)?.form['refresh_token']).toBe(oauthHash(token));
      await rig.close();
    }
  });

  test('that nobody could send leaves the one before it in doubt, and is told', async () => {
    for (const token of [7, 'line\nbreak', { token: 'rt' }]) {
      const rig = await createVaultRig();
      await rig.signIn();
      const { rtHash } = await rig.record();
      await rig.clock.advance(HOUR);
      rig.server.respondNext('token', answer(token));
      expect(
        expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken,
      ).toBe('at-2');
      expect(await rig.record()).toMatchObject({
        ...{ rtHash, rtSuspect: true, reason: 'in_doubt', status: 'active', tokenSeq: 2 },
      });
      expect(rig.logged.map(({ event }) => event)).toContain('vault_refresh_token_unusable');
      await rig.close();
    }
  });
});

describe('the first token of our own', () => {
  const app = credentialKey('-', { principal: '@app', kind: 'client_credentials' });

  test('that is refused is not asked for with every call', async () => {
    const kinds = [
      [{ status: 401, body: { error: 'invalid_client' } }, { kind: 'misconfigured' }],
      [{ status: 429, body: {} }, { kind: 'unavailable' }],
      [{ status: 503, headers: { 'retry-after': '7' }, body: '' }, { kind: 'unavailable' }],
    ] as const;
    for (const [answer, outcome] of kinds) {
      const rig = await createVaultRig();
      rig.server.respondNext('token', ...Array.from({ length: 10 }, () => answer));
      for (let calls = 0; calls < 5; calls += 1)
        expect(await rig.advanceUntilSettled(rig.vault.token(app))).toMatchObject(outcome);
      expect(rig.server.counters.tokenHits).toBe(1);
      await rig.clock.advance(61_000);
      await rig.advanceUntilSettled(rig.vault.token(app));
      expect(rig.server.counters.tokenHits).toBe(2);
      await rig.close();
    }
  });
});
