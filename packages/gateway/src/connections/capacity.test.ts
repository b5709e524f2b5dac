import { describe, expect, test } from '@jest/globals';
import { appServer, connectionsRig, holder, stdio, turn, userServer } from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('the number and age of connections', () => {
  test('a user at the cap loses the least recently used idle one', async () => {
    const rig = connectionsRig({ maxPerPrincipal: 3 });
    rig.answer = (opening) => void opening.land('legacy');
    const held = await rig.user(userServer('0'), holder('ann'));
    const bystander = await rig.user(userServer('0'), holder('bob'));
    bystander.release();
    for (const id of ['1', '2', '1', '3']) (await rig.user(userServer(id), holder('ann'))).release();
    const closed = () => rig.upstreams.map((upstream) => upstream.closed);
    // In order of opening: 0 of ann (in use), 0 of bob, 1 (used after 2), 2, 3.
    expect(closed()).toEqual([0, 0, 0, 1, 0]);
    held.release();
    (await rig.user(userServer('4'), holder('ann'))).release();
    expect(closed()).toEqual([0, 0, 1, 1, 0, 0]);
    expect(rig.manager.counts().user).toBe(4);
  });

  test('the total cap takes from whoever was idle longest', async () => {
    const rig = connectionsRig({ maxTotal: 3 });
    rig.answer = (opening) => void opening.land('legacy');
    for (const who of ['a', 'b', 'c', 'd']) (await rig.user(userServer(), holder(who))).release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0, 0, 0]);
    expect(rig.manager.counts().user).toBe(3);
  });

  test('with everything in use a further one is refused', async () => {
    const rig = connectionsRig({ maxPerPrincipal: 2, maxTotal: 3 });
    rig.answer = (opening) => void opening.land('legacy');
    const ann = [
      await rig.user(userServer('0'), holder('ann')),
      await rig.user(userServer('1'), holder('ann')),
    ];
    await expect(rig.user(userServer('2'), holder('ann'))).rejects.toMatchObject({ reason: 'too_many' });
    await rig.user(userServer('0'), holder('bob'));
    await expect(rig.user(userServer('0'), holder('eve'))).rejects.toMatchObject({ reason: 'too_many' });
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0, 0]);
    expect(rig.openings).toHaveLength(3);
    ann[0]!.release();
    (await rig.user(userServer('0'), holder('eve'))).release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0, 0, 0]);
  });

  test('what is being opened, and what is only waited out, takes room', async () => {
    const rig = connectionsRig({ maxPerPrincipal: 2 });
    const opening = rig.user(userServer('0'), holder('ann'));
    await turn();
    rig.openings[0]!.land('legacy');
    const old = await opening;
    rig.manager.update([userServer('0', '2')]);
    const second = rig.user(userServer('1'), holder('ann'));
    await turn();
    await expect(rig.user(userServer('2'), holder('ann'))).rejects.toMatchObject({ reason: 'too_many' });
    rig.openings[1]!.refuse('garbage');
    await expect(second).rejects.toMatchObject({ reason: 'garbage' });
    // The failed one gave its room back.
    const third = rig.user(userServer('2'), holder('ann'));
    await turn();
    rig.openings[2]!.land('legacy');
    (await third).release();
    old.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  test('without any traffic an idle session is closed after 15 minutes', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const held = await rig.user(userServer('held'), holder('ann'));
    (await rig.user(userServer('idle'), holder('ann', { target: stdio }))).release();
    await rig.clock.advance(14 * 60_000);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0]);
    await rig.clock.advance(90_000);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1]);
    // Being used counts to the end of the use.
    await rig.clock.advance(60 * 60_000);
    held.release();
    await rig.clock.advance(14 * 60_000);
    expect(rig.upstreams[0]!.closed).toBe(0);
    await rig.clock.advance(90_000);
    expect(rig.upstreams[0]!.closed).toBe(1);
    expect(rig.manager.counts().user).toBe(0);
  });

  test('a shared connection stays, but not for a server nobody announced', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    rig.manager.update([appServer('announced')]);
    (await rig.shared(appServer('announced'))).release();
    (await rig.shared(appServer('unheard of'))).release();
    await rig.clock.advance(16 * 60_000);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1]);
  });
});

describe('attempts to connect', () => {
  test('a second one follows when the first did not get through', async () => {
    for (const reason of ['connect_failed', 'ended'] as const) {
      const rig = connectionsRig();
      const pendingLease = rig.shared(appServer());
      rig.openings[0]!.refuse(reason);
      await rig.clock.advance(249);
      expect(rig.openings).toHaveLength(1);
      await rig.clock.advance(751);
      expect(rig.openings).toHaveLength(2);
      // Both share one time limit.
      expect(rig.openings[1]!.options.initTimeoutMs).toBeLessThan(30_000);
      rig.openings[1]!.refuse(reason);
      await expect(pendingLease).rejects.toMatchObject({ reason });
      await rig.clock.advance(10_000);
      expect(rig.openings).toHaveLength(2);
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
      const rig = connectionsRig();
      const pendingLease = rig.shared(appServer());
      rig.openings[0]!.refuse(reason);
      await expect(pendingLease).rejects.toMatchObject({ reason });
      await rig.clock.advance(10_000);
      expect(rig.openings).toHaveLength(1);
    }
  });

  test('the time limit is the server’s', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.refuse('connect_failed');
    const brief = { ...appServer('brief'), settings: { ...appServer().settings, initTimeout: 200 } };
    await expect(rig.shared(brief)).rejects.toBeInstanceOf(UpstreamError);
    // No time for a second attempt.
    expect(rig.openings.map(({ options }) => options.initTimeoutMs)).toEqual([200]);
    rig.answer = (opening) => void opening.land();
    await rig.shared(appServer());
    expect(rig.openings[1]!.options).toMatchObject({ initTimeoutMs: 30_000, era: 'auto', server: 'app' });
  });
});
