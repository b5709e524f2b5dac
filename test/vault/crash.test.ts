import { readdir } from 'node:fs/promises';
import { eventually } from '@behalf/testkit';
import type { VaultProcess, VaultProcessRig } from '@behalf/testkit/vault';
import { expect, test } from '@jest/globals';
import { advanceToExpiry, faultTimings, TOKEN_LIFETIME_MS, describeEachBackend } from './backends.ts';

const allSucceeded = (succeeded: number) => ({ succeeded, failures: {}, wrongUser: 0 });

/** A call that its process may not live to see the end of. */
function startCall(process: VaultProcess) {
  const call = process.calls({ users: ['ada'], callsPerUser: 1 });
  call.catch(() => undefined);
  return call;
}

/** Beside the database. With Redis there are none. */
async function orphanFiles({ stores }: VaultProcessRig): Promise<string[]> {
  const names = await readdir(stores.dataDir, { recursive: true });
  return names.filter((file) => /-pending-writes\/[0-9a-f]{64}\.[0-9a-f]{64}$/.test(file));
}

const waitForClaimExpiry = async (since: number) =>
  eventually('the claim to be over', () => Date.now() - since > faultTimings.claimMs + 300);

describeEachBackend('a process that ends or stands still while it renews', ({ name, open }) => {
  test('killed before it sent anything: another one sends it once, when the claim is over', async () => {
    const stage = await open({ timings: faultTimings });
    const [killedProcess, ...survivors] = (await stage.startMany(3)) as [
      VaultProcess,
      VaultProcess,
      VaultProcess,
    ];
    await advanceToExpiry(stage, [killedProcess, ...survivors]);
    await killedProcess.holdSends();
    void startCall(killedProcess);
    const claimedAt = Date.now();
    await eventually('the request to be about to leave', async () => (await killedProcess.heldSends()) === 1);
    await killedProcess.kill();
    expect(await stage.callFromAll(survivors, { callsPerUser: 20 })).toEqual(allSucceeded(40));
    expect(Date.now() - claimedAt).toBeGreaterThan(faultTimings.claimMs - 500);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);

  test('killed between the answer and the store: the grace of the authorization server is made use of', async () => {
    const stage = await open({ timings: faultTimings, authorization: { graceMs: 60_000 } });
    const [killedProcess, ...survivors] = (await stage.startMany(3)) as [
      VaultProcess,
      VaultProcess,
      VaultProcess,
    ];
    await advanceToExpiry(stage, [killedProcess, ...survivors]);
    const hold = stage.authorization.hold('token', 'after');
    void startCall(killedProcess);
    await hold.arrived();
    await killedProcess.kill();
    hold.release();
    expect(await stage.callFromAll(survivors, { callsPerUser: 20 })).toEqual(allSucceeded(40));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('killed after it sent, without a grace: the token is used to its end, then one more try, and no loop', async () => {
    const stage = await open({ timings: faultTimings });
    const [killedProcess, ...survivors] = (await stage.startMany(3)) as [
      VaultProcess,
      VaultProcess,
      VaultProcess,
    ];
    await stage.signIn(killedProcess, 'ada');
    await stage.callFromAll([killedProcess, ...survivors], { callsPerUser: 1 });
    // Within the skew: it is renewed although it still lives.
    const leftMs = 45_000;
    await stage.advance(TOKEN_LIFETIME_MS - leftMs);
    stage.authorization.reset();
    const hold = stage.authorization.hold('token', 'after');
    void startCall(killedProcess);
    await hold.arrived();
    const claimedAt = Date.now();
    await killedProcess.kill();
    hold.release();
    expect(await stage.callFromAll(survivors, { callsPerUser: 10 })).toEqual(allSucceeded(20));
    await waitForClaimExpiry(claimedAt);
    expect(await stage.callFromAll(survivors, { callsPerUser: 10 })).toEqual(allSucceeded(20));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
    expect(await survivors[0].status('ada')).toMatchObject({ status: 'active' });
    await stage.advance(leftMs);
    const lostReport = { succeeded: 0, failures: { 'needs_reauth: lost_rotation': 20 }, wrongUser: 0 };
    expect(await stage.callFromAll(survivors, { callsPerUser: 10 })).toEqual(lostReport);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 1 });
    await stage.advance(120_000);
    expect(await stage.callFromAll(survivors, { callsPerUser: 10 })).toEqual(lostReport);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 1 });
    expect(await survivors[1].status('ada')).toMatchObject({ status: 'rejected', reason: 'lost_rotation' });
  }, 60_000);

  test('killed with a pair that it could not store: another process finds it aside, and nothing is sent again', async () => {
    const stage = await open({ timings: faultTimings });
    const [killedProcess, ...survivors] = (await stage.startMany(3)) as [
      VaultProcess,
      VaultProcess,
      VaultProcess,
    ];
    await advanceToExpiry(stage, [killedProcess, ...survivors]);
    await killedProcess.failSaves();
    void startCall(killedProcess);
    await eventually('a save to fail', () => killedProcess.output().includes('vault_persist_delayed'));
    if (name === 'SQLite') expect(await orphanFiles(stage)).toHaveLength(1);
    await killedProcess.kill();
    expect(await stage.callFromAll(survivors, { callsPerUser: 20 })).toEqual(allSucceeded(40));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
    await eventually('it to be taken away', async () => (await orphanFiles(stage)).length === 0);
    // What was taken up is the living one.
    await stage.advance(TOKEN_LIFETIME_MS);
    expect(await stage.callFromAll(survivors, { callsPerUser: 5 })).toEqual(allSucceeded(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('frozen past its claim with the answer unread, it stores its pair when it wakes', async () => {
    const stage = await open({ timings: faultTimings });
    const [frozenProcess, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await advanceToExpiry(stage, [frozenProcess, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = startCall(frozenProcess);
    await hold.arrived();
    frozenProcess.freeze();
    const frozenAt = Date.now();
    hold.release();
    await waitForClaimExpiry(frozenAt);
    frozenProcess.thaw();
    expect(await call).toEqual(allSucceeded(1));
    expect(await stage.callFromAll([frozenProcess, peer], { callsPerUser: 5 })).toEqual(allSucceeded(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);

  test('a peer that renewed meanwhile, within the grace, wins; both go on with one pair', async () => {
    const stage = await open({ timings: faultTimings, authorization: { graceMs: 60_000 } });
    const [frozenProcess, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await advanceToExpiry(stage, [frozenProcess, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = startCall(frozenProcess);
    await hold.arrived();
    frozenProcess.freeze();
    hold.release();
    expect(await stage.callFromAll([peer], { callsPerUser: 5 })).toEqual(allSucceeded(5));
    frozenProcess.thaw();
    expect(await call).toEqual(allSucceeded(1));
    expect(await stage.callFromAll([frozenProcess, peer], { callsPerUser: 5 })).toEqual(allSucceeded(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('without a grace the grant is lost once, said so, and not asked for again and again', async () => {
    const stage = await open({ timings: faultTimings });
    const [frozenProcess, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await advanceToExpiry(stage, [frozenProcess, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = startCall(frozenProcess);
    await hold.arrived();
    frozenProcess.freeze();
    hold.release();
    const lostReport = await stage.callFromAll([peer], { callsPerUser: 5 });
    expect(lostReport).toEqual({
      succeeded: 0,
      failures: { 'needs_reauth: lost_rotation': 5 },
      wrongUser: 0,
    });
    frozenProcess.thaw();
    await call;
    // The sleeper's, the peer's, and one with what the sleeper stored over the peer's verdict: it is dead with its family.
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 3, familyRevocations: 1 });
    const after = await stage.callFromAll([frozenProcess, peer], { callsPerUser: 5 });
    expect(after.succeeded).toBe(0);
    expect(Object.keys(after.failures).every((why) => why.startsWith('needs_reauth'))).toBe(true);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 3, familyRevocations: 1 });
  }, 60_000);

  test('told to stop while it renews, it stores what it gets and ends then', async () => {
    const stage = await open({ timings: faultTimings });
    const [leaver, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await advanceToExpiry(stage, [leaver, peer]);
    const hold = stage.authorization.hold('token', 'after');
    void startCall(leaver);
    await hold.arrived();
    const ended = leaver.terminate();
    await eventually('it to begin to end', () => leaver.output().includes('closing'));
    hold.release();
    expect(await ended).toBe(0);
    expect(await stage.callFromAll([peer], { callsPerUser: 5 })).toEqual(allSucceeded(5));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);
});
