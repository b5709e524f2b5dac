import { eventually } from '@behalf/testkit';
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

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

/** A process sends the refresh token and dies before it has stored anything. */
async function dieInTheMiddle(rig: VaultRig): Promise<void> {
  const doomed = rig.startReplica();
  const gate = rig.server.hold('token', 'after');
  void doomed.vault.token(credentialKey());
  await gate.arrived();
  doomed.freeze();
  gate.release();
  await wait(20);
}

describe('a refresh in doubt', () => {
  test('the access token is used to its end, then one more try', async () => {
    const rig = await createVaultRig({ authorization: { graceMs: 0 } });
    const { accessToken } = await rig.signIn();
    // Within the skew: it is renewed although it still lives.
    await rig.clock.advance(HOUR - 59_000);
    await dieInTheMiddle(rig);
    expect(rig.server.counters.rotations).toBe(1);
    await rig.clock.advance(26_000);
    for (let i = 0; i < 3; i += 1) {
      expect(
        expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken,
      ).toBe(accessToken);
      await rig.clock.advance(3_000);
    }
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: true, claimOwner: null });
    await rig.clock.advance(30_000);
    const lost = { kind: 'needs_reauth', reason: 'lost_rotation' };
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject(lost);
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject(lost);
    await rig.clock.advance(120_000);
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject(lost);
    expect(rig.server.counters.refreshHits).toBe(2);
    const record = await rig.record();
    expect(record).toMatchObject({ status: 'rejected', reason: 'lost_rotation' });
    expect(record.sealed).not.toBeNull();
    expect(rig.logged.filter(({ event }) => event === 'vault_lost_rotation')).toHaveLength(1);
    expect(rig.outcomes()).toEqual(['lost_rotation']);
  });

  test('after a crash a pair is recovered where the predecessor is forgiven', async () => {
    const rig = await createVaultRig({
      authorization: { graceMs: 60_000 },
      profile: { rotationGraceMs: 60_000 },
    });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    await dieInTheMiddle(rig);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
    expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: false, tokenSeq: 2 });
  });

  test('also while the access token lives, and nobody waits for it', async () => {
    const rig = await createVaultRig({
      authorization: { graceMs: 60_000 },
      profile: { rotationGraceMs: 60_000 },
    });
    const { accessToken } = await rig.signIn();
    await rig.clock.advance(HOUR - 59_000);
    rig.server.change({ dropAnswers: 2 });
    // Both answers are lost; the token that lives is good enough.
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).accessToken).toBe(
      accessToken,
    );
    expect(rig.server.counters.refreshHits).toBe(2);
    await rig.clock.advance(3_000);
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
    await rig.clock.advance(1);
    await eventually('the pair to be recovered', async () => (await rig.record()).tokenSeq === 2);
    expect(await rig.record()).toMatchObject({ rtSuspect: false, status: 'active', reason: null });
    expect(rig.server.counters).toMatchObject({ refreshHits: 3, familyRevocations: 0 });
  });

  for (const graceMs of [0, 5_000, 60_000]) {
    test(`a lost answer, forgiven for ${graceMs} ms`, async () => {
      const rig = await createVaultRig({ authorization: { graceMs }, profile: { rotationGraceMs: graceMs } });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      rig.server.change({ dropAnswers: 1 });
      const outcome = await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      expect(rig.server.counters.refreshHits).toBe(2);
      expect(rig.outcomes()[0]).toBe('in_doubt');
      if (graceMs > 0) {
        expectHeldToken(outcome);
        expect(rig.server.counters.familyRevocations).toBe(0);
        expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: false });
        // What was adopted is the living one.
        await rig.clock.advance(HOUR);
        expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
        expect(rig.server.counters.familyRevocations).toBe(0);
      } else {
        expect(outcome).toMatchObject({ kind: 'needs_reauth', reason: 'lost_rotation' });
        expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
          reason: 'lost_rotation',
        });
        expect(rig.server.counters.refreshHits).toBe(2);
      }
    });
  }

  test('a refresh token stays doubted when only an access token comes', async () => {
    const rig = await createVaultRig({
      authorization: { graceMs: 60_000, inGrace: 'access-only' },
      profile: { rotationGraceMs: 60_000 },
    });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.change({ dropAnswers: 1 });
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: true, tokenSeq: 2 });
    await rig.clock.advance(HOUR);
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
      reason: 'lost_rotation',
    });
  });

  test('an authorization server that stays away is no reason to sign in again', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const down = { status: 500, body: 'down' };
    rig.server.respondNext('token', ...Array.from({ length: 20 }, () => down));
    for (let i = 0; i < 8; i += 1) {
      expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
        kind: 'unavailable',
        reason: 'authorization_server',
      });
      await rig.clock.advance(61_000);
    }
    expect(rig.server.counters.refreshHits).toBe(16);
    expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: true });
    while (rig.server.counters.refreshHits < 20) {
      await rig.advanceUntilSettled(rig.vault.token(credentialKey()));
      await rig.clock.advance(61_000);
    }
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ status: 'active', rtSuspect: false });
  });

  for (const graceMs of [60_000, 0]) {
    test(`a holder wakes after its claim, forgiven for ${graceMs} ms`, async () => {
      const rig = await createVaultRig({ replicas: 2, authorization: { graceMs } });
      await rig.signIn();
      await rig.clock.advance(HOUR);
      const [holder, peer] = rig.replicas;
      const gate = rig.server.hold('token', 'after');
      const late = holder!.vault.token(credentialKey());
      await gate.arrived();
      holder!.freeze();
      gate.release();
      await wait(20);
      await rig.clock.advance(26_000);
      const second = await rig.advanceUntilSettled(peer!.vault.token(credentialKey()));
      expect(rig.server.counters.refreshHits).toBe(2);
      if (graceMs > 0) {
        const { accessToken } = expectHeldToken(second);
        holder!.thaw();
        // Its refresh token is not the stored one any more: the peer's pair stays.
        expect(expectHeldToken(await rig.advanceUntilSettled(late)).accessToken).toBe(accessToken);
        expect(await rig.record()).toMatchObject({ status: 'active', tokenSeq: 2 });
        expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
      } else {
        expect(second).toMatchObject({ kind: 'needs_reauth', reason: 'lost_rotation' });
        expect(await rig.record()).toMatchObject({ status: 'rejected' });
        holder!.thaw();
        // It holds what was given for the stored refresh token, and nobody else does.
        expectHeldToken(await rig.advanceUntilSettled(late));
        expect(await rig.record()).toMatchObject({ status: 'active', tokenSeq: 2 });
        await rig.clock.advance(HOUR);
        expect(await rig.advanceUntilSettled(peer!.vault.token(credentialKey()))).toMatchObject({
          kind: 'needs_reauth',
        });
        expect(await rig.advanceUntilSettled(peer!.vault.token(credentialKey()))).toMatchObject({
          kind: 'needs_reauth',
        });
        expect(rig.server.counters).toMatchObject({ refreshHits: 3, familyRevocations: 1 });
        expect(rig.outcomes().filter((one) => one === 'lost_rotation')).toHaveLength(1);
      }
    });
  }

  test('a late refusal condemns nothing that a peer has renewed', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const [holder, peer] = rig.replicas;
    // The first is refused, and reads it only after its claim is over and a peer has renewed.
    rig.server.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    const gate = rig.server.hold('token', 'after');
    const late = holder!.vault.token(credentialKey());
    await gate.arrived();
    holder!.freeze();
    gate.release();
    await wait(20);
    await rig.clock.advance(26_000);
    const { accessToken } = expectHeldToken(
      await rig.advanceUntilSettled(peer!.vault.token(credentialKey())),
    );
    holder!.thaw();
    expect(expectHeldToken(await rig.advanceUntilSettled(late)).accessToken).toBe(accessToken);
    expect(await rig.record()).toMatchObject({ status: 'active', tokenSeq: 2 });
    expect(rig.outcomes()).toEqual(['ok']);
  });

  test('a refusal of a token that is not the stored one any more takes up the stored one', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    const gate = rig.server.hold('token', 'before');
    const call = rig.vault.token(credentialKey());
    await gate.arrived();
    const imported = await rig.signIn();
    gate.release();
    expect(expectHeldToken(await rig.advanceUntilSettled(call)).accessToken).toBe(imported.accessToken);
    expect(await rig.record()).toMatchObject({ status: 'active', generation: 2 });
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('a refusal of the stored one is told once, and nothing is thrown away', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    const { familyId } = await rig.signIn();
    rig.server.endFamily(familyId);
    await rig.clock.advance(HOUR);
    const before = await rig.record();
    for (const { vault } of [...rig.replicas, ...rig.replicas]) {
      expect(await rig.advanceUntilSettled(vault.token(credentialKey()))).toEqual({
        kind: 'needs_reauth',
        reason: 'rejected',
        credentialId: credentialId(credentialKey()),
      });
    }
    expect(rig.server.counters.refreshHits).toBe(1);
    const { sealed, rtHash, atHash, generation, tokenSeq } = before;
    expect(await rig.record()).toMatchObject({
      sealed,
      rtHash,
      atHash,
      generation,
      tokenSeq,
      status: 'rejected',
      reason: 'rejected',
    });
    expect(rig.events.filter(({ kind }) => kind === 'sign_in_needed')).toHaveLength(1);
  });
});

describe('a pair that cannot be stored', () => {
  test('is tried again until it is', async () => {
    const rig = await createVaultRig({ replicas: 2 });
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', 2);
    const { accessToken } = expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null, status: 'active' });
    expect(expectHeldToken(await rig.replicas[1]!.vault.token(credentialKey())).accessToken).toBe(
      accessToken,
    );
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('is found when only the answer of the store was lost', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    const replace = rig.store.credentials.replace.bind(rig.store.credentials);
    let isLost = false;
    rig.store.credentials.replace = async (...args) => {
      const written = await replace(...args);
      if (isLost) return written;
      isLost = true;
      throw new Error('The answer is lost');
    };
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null });
    expect(rig.outcomes()).toEqual(['ok']);
  });

  test('is put aside, and the next one takes it up', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', Infinity);
    const { accessToken } = expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    expect(await rig.record()).toMatchObject({ tokenSeq: 1 });
    const put = await rig.store.pendingWrites.find(credentialId(credentialKey()));
    expect(put).toMatch(/^v1\./);
    expect(put).not.toContain(accessToken);
    expect(rig.events.map(({ kind }) => kind)).toContain('persist_failed');
    // The process ends; another one comes when the store is well again.
    rig.replicas[0]!.freeze();
    rig.faults.failing.clear();
    await rig.clock.advance(30_000);
    const next = rig.startReplica();
    expect(
      expectHeldToken(await rig.advanceUntilSettled(next.vault.token(credentialKey()))).accessToken,
    ).toBe(accessToken);
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null, rtSuspect: false });
    expect(await rig.store.pendingWrites.find(credentialId(credentialKey()))).toBeNull();
    expect(rig.outcomes()).toEqual(['ok', 'adopted']);
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(next.vault.token(credentialKey())));
    expect(rig.server.counters).toMatchObject({ refreshHits: 2, familyRevocations: 0 });
  });

  test('is stored by the process that has it, as soon as the store is well', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', Infinity);
    rig.faults.pendingWritesDown = true;
    const { accessToken } = expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    rig.faults.failing.clear();
    rig.faults.pendingWritesDown = false;
    await rig.clock.advance(5_000);
    expect(await rig.record()).toMatchObject({ tokenSeq: 2, claimOwner: null });
    expect(expectHeldToken(await rig.vault.token(credentialKey())).accessToken).toBe(accessToken);
    expect(rig.server.counters.refreshHits).toBe(1);
  });

  test('keeps its predecessor from being sent while nobody can look for it', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    await dieInTheMiddle(rig);
    await rig.clock.advance(30_000);
    rig.faults.pendingWritesDown = true;
    expect(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).toMatchObject({
      kind: 'unavailable',
      reason: 'store',
    });
    expect(rig.server.counters.refreshHits).toBe(1);
    expect(await rig.record()).toMatchObject({ rtSuspect: true, status: 'active' });
  });

  test('of another generation is not taken up', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.faults.failing.set('replace', Infinity);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    rig.replicas[0]!.freeze();
    rig.faults.failing.clear();
    const next = rig.startReplica();
    const granted = rig.server.grant({ clientId: 'behalf', scope: 'read' });
    await next.vault.commit({
      ...credentialKey(),
      binding: rig.definition.binding,
      endpoints: rig.endpoints,
      tokens: toTokenSet(granted),
      sentAt: rig.clock.now(),
      scopesRequested: 'read',
      baseGeneration: 1,
    });
    await rig.clock.advance(HOUR);
    rig.server.change({ dropAnswers: 1 });
    // In doubt: it looks, and finds only what another grant left.
    expect(await rig.advanceUntilSettled(next.vault.token(credentialKey()))).toMatchObject({
      reason: 'lost_rotation',
    });
    expect((await rig.record()).generation).toBe(2);
    expect(rig.outcomes()).not.toContain('adopted');
  });
});
