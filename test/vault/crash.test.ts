import { readdir } from 'node:fs/promises';
import { eventually } from '@behalf/testkit';
import type { VaultProcess, VaultProcessRig } from '@behalf/testkit/vault';
import { expect, test } from '@jest/globals';
import { atExpiry, chain, LIFETIME_MS, onEachBackend } from './stages.ts';

const all = (succeeded: number) => ({ succeeded, failures: {}, wrongUser: 0 });

/** A call that its process may not live to see the end of. */
function callOf(process: VaultProcess) {
  const call = process.calls({ users: ['ada'], callsPerUser: 1 });
  call.catch(() => undefined);
  return call;
}

/** Beside the database. With Redis there are none. */
async function orphanFiles({ stores }: VaultProcessRig): Promise<string[]> {
  const names = await readdir(stores.dataDir, { recursive: true });
  return names.filter((file) => /-pending-writes\/[0-9a-f]{64}\.[0-9a-f]{64}$/.test(file));
}

const pastClaim = async (since: number) =>
  eventually('the claim to be over', () => Date.now() - since > chain.claimMs + 300);

onEachBackend('a process that ends or stands still while it renews', ({ name, open }) => {
  test('killed before it sent anything: another one sends it once, when the claim is over', async () => {
    const stage = await open({ timings: chain });
    const [victim, ...heirs] = (await stage.startMany(3)) as [VaultProcess, VaultProcess, VaultProcess];
    await atExpiry(stage, [victim, ...heirs]);
    await victim.holdSends();
    void callOf(victim);
    const claimed = Date.now();
    await eventually('the request to be about to leave', async () => (await victim.heldSends()) === 1);
    await victim.kill();
    expect(await stage.callFromAll(heirs, { callsPerUser: 20 })).toEqual(all(40));
    expect(Date.now() - claimed).toBeGreaterThan(chain.claimMs - 500);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);

  test('killed between the answer and the store: the grace of the authorization server is made use of', async () => {
    const stage = await open({ timings: chain, authorization: { graceMs: 60_000 } });
    const [victim, ...heirs] = (await stage.startMany(3)) as [VaultProcess, VaultProcess, VaultProcess];
    await atExpiry(stage, [victim, ...heirs]);
    const hold = stage.authorization.hold('token', 'after');
    void callOf(victim);
    await hold.arrived();
    await victim.kill();
    hold.release();
    expect(await stage.callFromAll(heirs, { callsPerUser: 20 })).toEqual(all(40));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('killed after it sent, without a grace: the token is used to its end, then one more try, and no loop', async () => {
    const stage = await open({ timings: chain });
    const [victim, ...heirs] = (await stage.startMany(3)) as [VaultProcess, VaultProcess, VaultProcess];
    await stage.signIn(victim, 'ada');
    await stage.callFromAll([victim, ...heirs], { callsPerUser: 1 });
    // Within the skew: it is renewed although it still lives.
    const leftMs = 45_000;
    await stage.advance(LIFETIME_MS - leftMs);
    stage.authorization.reset();
    const hold = stage.authorization.hold('token', 'after');
    void callOf(victim);
    await hold.arrived();
    const claimed = Date.now();
    await victim.kill();
    hold.release();
    expect(await stage.callFromAll(heirs, { callsPerUser: 10 })).toEqual(all(20));
    await pastClaim(claimed);
    expect(await stage.callFromAll(heirs, { callsPerUser: 10 })).toEqual(all(20));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
    expect(await heirs[0].status('ada')).toMatchObject({ status: 'active' });
    await stage.advance(leftMs);
    const lost = { succeeded: 0, failures: { 'needs_reauth: lost_rotation': 20 }, wrongUser: 0 };
    expect(await stage.callFromAll(heirs, { callsPerUser: 10 })).toEqual(lost);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 1 });
    await stage.advance(120_000);
    expect(await stage.callFromAll(heirs, { callsPerUser: 10 })).toEqual(lost);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 1 });
    expect(await heirs[1].status('ada')).toMatchObject({ status: 'rejected', reason: 'lost_rotation' });
  }, 60_000);

  test('killed with a pair that it could not store: another process finds it aside, and nothing is sent again', async () => {
    const stage = await open({ timings: chain });
    const [victim, ...heirs] = (await stage.startMany(3)) as [VaultProcess, VaultProcess, VaultProcess];
    await atExpiry(stage, [victim, ...heirs]);
    await victim.failSaves();
    void callOf(victim);
    await eventually('a save to fail', () => victim.output().includes('vault_persist_delayed'));
    if (name === 'SQLite') expect(await orphanFiles(stage)).toHaveLength(1);
    await victim.kill();
    expect(await stage.callFromAll(heirs, { callsPerUser: 20 })).toEqual(all(40));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
    await eventually('it to be taken away', async () => (await orphanFiles(stage)).length === 0);
    // What was taken up is the living one.
    await stage.advance(LIFETIME_MS);
    expect(await stage.callFromAll(heirs, { callsPerUser: 5 })).toEqual(all(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('frozen past its claim with the answer unread, it stores its pair when it wakes', async () => {
    const stage = await open({ timings: chain });
    const [sleeper, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await atExpiry(stage, [sleeper, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = callOf(sleeper);
    await hold.arrived();
    sleeper.freeze();
    const frozen = Date.now();
    hold.release();
    await pastClaim(frozen);
    sleeper.thaw();
    expect(await call).toEqual(all(1));
    expect(await stage.callFromAll([sleeper, peer], { callsPerUser: 5 })).toEqual(all(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);

  test('a peer that renewed meanwhile, within the grace, wins; both go on with one pair', async () => {
    const stage = await open({ timings: chain, authorization: { graceMs: 60_000 } });
    const [sleeper, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await atExpiry(stage, [sleeper, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = callOf(sleeper);
    await hold.arrived();
    sleeper.freeze();
    hold.release();
    expect(await stage.callFromAll([peer], { callsPerUser: 5 })).toEqual(all(5));
    sleeper.thaw();
    expect(await call).toEqual(all(1));
    expect(await stage.callFromAll([sleeper, peer], { callsPerUser: 5 })).toEqual(all(10));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 2, familyRevocations: 0 });
  }, 60_000);

  test('without a grace the grant is lost once, said so, and not asked for again and again', async () => {
    const stage = await open({ timings: chain });
    const [sleeper, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await atExpiry(stage, [sleeper, peer]);
    const hold = stage.authorization.hold('token', 'after');
    const call = callOf(sleeper);
    await hold.arrived();
    sleeper.freeze();
    hold.release();
    const lost = await stage.callFromAll([peer], { callsPerUser: 5 });
    expect(lost).toEqual({ succeeded: 0, failures: { 'needs_reauth: lost_rotation': 5 }, wrongUser: 0 });
    sleeper.thaw();
    await call;
    // The sleeper's, the peer's, and one with what the sleeper stored over the peer's verdict: it is dead with its family.
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 3, familyRevocations: 1 });
    const after = await stage.callFromAll([sleeper, peer], { callsPerUser: 5 });
    expect(after.succeeded).toBe(0);
    expect(Object.keys(after.failures).every((why) => why.startsWith('needs_reauth'))).toBe(true);
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 3, familyRevocations: 1 });
  }, 60_000);

  test('told to stop while it renews, it stores what it gets and ends then', async () => {
    const stage = await open({ timings: chain });
    const [leaver, peer] = (await stage.startMany(2)) as [VaultProcess, VaultProcess];
    await atExpiry(stage, [leaver, peer]);
    const hold = stage.authorization.hold('token', 'after');
    void callOf(leaver);
    await hold.arrived();
    const ended = leaver.terminate();
    await eventually('it to begin to end', () => leaver.output().includes('closing'));
    hold.release();
    expect(await ended).toBe(0);
    expect(await stage.callFromAll([peer], { callsPerUser: 5 })).toEqual(all(5));
    expect(stage.authorization.counters).toMatchObject({ tokenHits: 1, familyRevocations: 0 });
  }, 60_000);
});
