import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  stdioTarget,
  waitForImmediate,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('the number and age of connections', () => {
  test('a user at the cap loses the least recently used idle one', async () => {
    const rig = createConnectionsRig({ maxPerPrincipal: 3 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const held = await rig.leaseUser(createUserServer('0'), createHolder('ann'));
    const bystander = await rig.leaseUser(createUserServer('0'), createHolder('bob'));
    bystander.release();
    for (const id of ['1', '2', '1', '3'])
      (await rig.leaseUser(createUserServer(id), createHolder('ann'))).release();
    const closed = () => rig.upstreams.map((upstream) => upstream.closeCount);
    // In order of opening: 0 of ann (in use), 0 of bob, 1 (used after 2), 2, 3.
    expect(closed()).toEqual([0, 0, 0, 1, 0]);
    held.release();
    (await rig.leaseUser(createUserServer('4'), createHolder('ann'))).release();
    expect(closed()).toEqual([0, 0, 1, 1, 0, 0]);
    expect(rig.manager.counts().user).toBe(4);
  });

  test('the total cap takes from whoever was idle longest', async () => {
    const rig = createConnectionsRig({ maxTotal: 3 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    for (const who of ['a', 'b', 'c', 'd'])
      (await rig.leaseUser(createUserServer(), createHolder(who))).release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0, 0, 0]);
    expect(rig.manager.counts().user).toBe(3);
  });

  test('with everything in use a further one is refused', async () => {
    const rig = createConnectionsRig({ maxPerPrincipal: 2, maxTotal: 3 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const ann = [
      await rig.leaseUser(createUserServer('0'), createHolder('ann')),
      await rig.leaseUser(createUserServer('1'), createHolder('ann')),
    ];
    await expect(rig.leaseUser(createUserServer('2'), createHolder('ann'))).rejects.toMatchObject({
      reason: 'too_many',
    });
    await rig.leaseUser(createUserServer('0'), createHolder('bob'));
    await expect(rig.leaseUser(createUserServer('0'), createHolder('eve'))).rejects.toMatchObject({
      reason: 'too_many',
    });
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0, 0]);
    expect(rig.pendingOpens).toHaveLength(3);
    ann[0]!.release();
    (await rig.leaseUser(createUserServer('0'), createHolder('eve'))).release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0, 0, 0]);
  });

  test('what is being opened, and what is only waited out, takes room', async () => {
    const rig = createConnectionsRig({ maxPerPrincipal: 2 });
    const pendingOpen = rig.leaseUser(createUserServer('0'), createHolder('ann'));
    await waitForImmediate();
    rig.pendingOpens[0]!.complete('legacy');
    const old = await pendingOpen;
    rig.manager.update([createUserServer('0', '2')]);
    const second = rig.leaseUser(createUserServer('1'), createHolder('ann'));
    await waitForImmediate();
    await expect(rig.leaseUser(createUserServer('2'), createHolder('ann'))).rejects.toMatchObject({
      reason: 'too_many',
    });
    rig.pendingOpens[1]!.fail('invalid_response');
    await expect(second).rejects.toMatchObject({ reason: 'invalid_response' });
    // The failed one gave its room back.
    const third = rig.leaseUser(createUserServer('2'), createHolder('ann'));
    await waitForImmediate();
    rig.pendingOpens[2]!.complete('legacy');
    (await third).release();
    old.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
  });

  test('without any traffic an idle session is closed after 15 minutes', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const held = await rig.leaseUser(createUserServer('held'), createHolder('ann'));
    (await rig.leaseUser(createUserServer('idle'), createHolder('ann', { target: stdioTarget }))).release();
    await rig.clock.advance(14 * 60_000);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0]);
    await rig.clock.advance(90_000);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1]);
    // Being used counts to the end of the use.
    await rig.clock.advance(60 * 60_000);
    held.release();
    await rig.clock.advance(14 * 60_000);
    expect(rig.upstreams[0]!.closeCount).toBe(0);
    await rig.clock.advance(90_000);
    expect(rig.upstreams[0]!.closeCount).toBe(1);
    expect(rig.manager.counts().user).toBe(0);
  });

  test('a shared connection stays, but not for a server nobody announced', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    rig.manager.update([createAppServer('announced')]);
    (await rig.leaseShared(createAppServer('announced'))).release();
    (await rig.leaseShared(createAppServer('unheard of'))).release();
    await rig.clock.advance(16 * 60_000);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1]);
  });
});

describe('attempts to connect', () => {
  test('a second one follows when the first did not get through', async () => {
    for (const reason of ['connect_failed', 'ended'] as const) {
      const rig = createConnectionsRig();
      const pendingLease = rig.leaseShared(createAppServer());
      rig.pendingOpens[0]!.fail(reason);
      await rig.clock.advance(249);
      expect(rig.pendingOpens).toHaveLength(1);
      await rig.clock.advance(751);
      expect(rig.pendingOpens).toHaveLength(2);
      // Both share one time limit.
      expect(rig.pendingOpens[1]!.options.initTimeoutMs).toBeLessThan(30_000);
      rig.pendingOpens[1]!.fail(reason);
      await expect(pendingLease).rejects.toMatchObject({ reason });
      await rig.clock.advance(10_000);
      expect(rig.pendingOpens).toHaveLength(2);
    }
  });

  test('anything else is final', async () => {
    for (const reason of [
      'unauthorized',
      'timeout',
      'connect_timeout',
      'upstream_5xx',
      'not_allowed',
    ] as const) {
      const rig = createConnectionsRig();
      const pendingLease = rig.leaseShared(createAppServer());
      rig.pendingOpens[0]!.fail(reason);
      await expect(pendingLease).rejects.toMatchObject({ reason });
      await rig.clock.advance(10_000);
      expect(rig.pendingOpens).toHaveLength(1);
    }
  });

  test('the time limit is the server’s', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_failed');
    const brief = {
      ...createAppServer('brief'),
      settings: { ...createAppServer().settings, initTimeout: 200 },
    };
    await expect(rig.leaseShared(brief)).rejects.toBeInstanceOf(UpstreamError);
    // No time for a second attempt.
    expect(rig.pendingOpens.map(({ options }) => options.initTimeoutMs)).toEqual([200]);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await rig.leaseShared(createAppServer());
    expect(rig.pendingOpens[1]!.options).toMatchObject({ initTimeoutMs: 30_000, era: 'auto', server: 'app' });
  });
});
