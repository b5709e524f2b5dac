import { describe, expect, test } from '@jest/globals';
import { appServer, connectionsRig, holder, turn, userServer } from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('forced replacement', () => {
  test('it waits for an ordinary opening, then replaces its outcome', async () => {
    const rig = connectionsRig();
    const ordinary = rig.shared(appServer());
    const forced = rig.shared(appServer(), { forceNew: true });
    await turn();
    expect(rig.openings).toHaveLength(1);
    const first = rig.openings[0]!.land();
    const call = await ordinary;
    expect(call.upstream).toBe(first);
    await turn();
    expect(rig.openings).toHaveLength(2);
    const second = rig.openings[1]!.land();
    expect((await forced).upstream).toBe(second);
    // The call on the old one is not cut.
    expect(first.closed).toBe(0);
    call.release();
    expect([first.closed, second.closed]).toEqual([1, 0]);
    expect((await rig.shared(appServer())).upstream).toBe(second);
  });

  test('an ordinary call waits for it when there is nothing else', async () => {
    const rig = connectionsRig();
    const forced = rig.shared(appServer(), { forceNew: true });
    await turn();
    const ordinary = rig.shared(appServer());
    await turn();
    expect(rig.openings).toHaveLength(1);
    const upstream = rig.openings[0]!.land();
    expect((await forced).upstream).toBe(upstream);
    expect((await ordinary).upstream).toBe(upstream);
  });

  test('meanwhile others use what is there; a failure leaves it to them', async () => {
    const rig = connectionsRig();
    const first = rig.shared(appServer());
    const upstream = rig.openings[0]!.land();
    (await first).release();
    const forced = rig.shared(appServer(), { forceNew: true });
    await turn();
    expect((await rig.shared(appServer())).upstream).toBe(upstream);
    rig.openings[1]!.refuse('garbage');
    await expect(forced).rejects.toBeInstanceOf(UpstreamError);
    expect((await rig.shared(appServer())).upstream).toBe(upstream);
    expect(upstream.closed).toBe(0);
  });

  test('several queue in their order, one at a time', async () => {
    const rig = connectionsRig();
    const impatient = new AbortController();
    const order: string[] = [];
    const forced = ['a', 'b', 'c', 'd'].map((name) =>
      rig
        .user(userServer(), holder('ann'), {
          forceNew: true,
          ...(name === 'c' && { signal: impatient.signal }),
        })
        .then(
          (lease) => {
            order.push(name);
            return lease;
          },
          () => undefined,
        ),
    );
    await turn();
    expect(rig.openings).toHaveLength(1);
    // One that leaves the queue neither opens anything nor holds it up.
    impatient.abort();
    for (let i = 0; i < 3; i += 1) {
      await turn();
      expect(rig.openings).toHaveLength(i + 1);
      rig.openings[i]!.land('legacy');
      await turn();
    }
    const leases = await Promise.all(forced);
    expect(order).toEqual(['a', 'b', 'd']);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0, 0]);
    expect((await rig.user(userServer(), holder('ann'))).upstream).toBe(rig.upstreams[2]);
    for (const lease of leases) lease?.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 1, 0]);
  });

  test('one whose asker left still comes before the next', async () => {
    const rig = connectionsRig();
    const impatient = new AbortController();
    const left = rig.shared(appServer(), { forceNew: true, signal: impatient.signal });
    await turn();
    const next = rig.shared(appServer(), { forceNew: true });
    impatient.abort();
    await expect(left).rejects.toThrow();
    await turn();
    expect(rig.openings).toHaveLength(1);
    rig.openings[0]!.land();
    await turn();
    expect(rig.openings).toHaveLength(2);
    const upstream = rig.openings[1]!.land();
    expect((await next).upstream).toBe(upstream);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  test('a shared one is not replaced again while a call still uses the one before', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const forced = () => rig.shared(appServer(), { forceNew: true, explicit: true });
    const slow = await rig.shared(appServer());
    const second = await forced();
    await expect(forced()).rejects.toMatchObject({ reason: 'too_many', code: 'MCP_RATE_LIMITED' });
    expect(rig.upstreams).toHaveLength(2);
    // What is there serves on, and when it ends a new one comes, whoever still waits for the first.
    const more = await rig.shared(appServer());
    expect(more.upstream).toBe(second.upstream);
    second.release(new UpstreamError('session_lost'));
    const third = await forced();
    expect(third.upstream).toBe(rig.upstreams[2]);
    more.release();
    await expect(forced()).rejects.toMatchObject({ reason: 'too_many' });
    slow.release();
    expect((await forced()).upstream).toBe(rig.upstreams[3]);
    expect(rig.manager.counts()).toMatchObject({ shared: 1, breakersOpen: 0 });
  });

  test('those who asked at once are not an exception', async () => {
    const rig = connectionsRig();
    const first = rig.shared(appServer());
    await turn();
    rig.openings[0]!.land();
    await first;
    const pendingLeases = Array.from({ length: 5 }, () => rig.shared(appServer(), { forceNew: true }));
    const settled = Promise.allSettled(pendingLeases);
    await turn();
    rig.answer = (opening) => void opening.land();
    rig.openings[1]!.land();
    const outcomes = (await settled).map(({ status }) => status);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'rejected']);
    expect(rig.upstreams).toHaveLength(2);
  });
});
