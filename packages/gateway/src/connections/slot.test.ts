import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  waitForImmediate,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('forced replacement', () => {
  test('it waits for an ordinary opening, then replaces its outcome', async () => {
    const rig = createConnectionsRig();
    const ordinary = rig.leaseShared(createAppServer());
    const forced = rig.leaseShared(createAppServer(), { forceNew: true });
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    const first = rig.pendingOpens[0]!.complete();
    const call = await ordinary;
    expect(call.upstream).toBe(first);
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(2);
    const second = rig.pendingOpens[1]!.complete();
    expect((await forced).upstream).toBe(second);
    // The call on the old one is not cut.
    expect(first.closeCount).toBe(0);
    call.release();
    expect([first.closeCount, second.closeCount]).toEqual([1, 0]);
    expect((await rig.leaseShared(createAppServer())).upstream).toBe(second);
  });

  test('an ordinary call waits for it when there is nothing else', async () => {
    const rig = createConnectionsRig();
    const forced = rig.leaseShared(createAppServer(), { forceNew: true });
    await waitForImmediate();
    const ordinary = rig.leaseShared(createAppServer());
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    const upstream = rig.pendingOpens[0]!.complete();
    expect((await forced).upstream).toBe(upstream);
    expect((await ordinary).upstream).toBe(upstream);
  });

  test('meanwhile others use what is there; a failure leaves it to them', async () => {
    const rig = createConnectionsRig();
    const first = rig.leaseShared(createAppServer());
    const upstream = rig.pendingOpens[0]!.complete();
    (await first).release();
    const forced = rig.leaseShared(createAppServer(), { forceNew: true });
    await waitForImmediate();
    expect((await rig.leaseShared(createAppServer())).upstream).toBe(upstream);
    rig.pendingOpens[1]!.fail('invalid_response');
    await expect(forced).rejects.toBeInstanceOf(UpstreamError);
    expect((await rig.leaseShared(createAppServer())).upstream).toBe(upstream);
    expect(upstream.closeCount).toBe(0);
  });

  test('several queue in their order, one at a time', async () => {
    const rig = createConnectionsRig();
    const impatient = new AbortController();
    const order: string[] = [];
    const forced = ['a', 'b', 'c', 'd'].map((name) =>
      rig
        .leaseUser(createUserServer(), createHolder('ann'), {
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
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    // One that leaves the queue neither opens anything nor holds it up.
    impatient.abort();
    for (let i = 0; i < 3; i += 1) {
      await waitForImmediate();
      expect(rig.pendingOpens).toHaveLength(i + 1);
      rig.pendingOpens[i]!.complete('legacy');
      await waitForImmediate();
    }
    const leases = await Promise.all(forced);
    expect(order).toEqual(['a', 'b', 'd']);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0, 0]);
    expect((await rig.leaseUser(createUserServer(), createHolder('ann'))).upstream).toBe(rig.upstreams[2]);
    for (const lease of leases) lease?.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 1, 0]);
  });

  test('one whose asker left still comes before the next', async () => {
    const rig = createConnectionsRig();
    const impatient = new AbortController();
    const left = rig.leaseShared(createAppServer(), { forceNew: true, signal: impatient.signal });
    await waitForImmediate();
    const next = rig.leaseShared(createAppServer(), { forceNew: true });
    impatient.abort();
    await expect(left).rejects.toThrow();
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    rig.pendingOpens[0]!.complete();
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(2);
    const upstream = rig.pendingOpens[1]!.complete();
    expect((await next).upstream).toBe(upstream);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
  });

  test('a shared one is not replaced again while a call still uses the one before', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const forced = () => rig.leaseShared(createAppServer(), { forceNew: true, bypassesBreaker: true });
    const slow = await rig.leaseShared(createAppServer());
    const second = await forced();
    await expect(forced()).rejects.toMatchObject({ reason: 'too_many', code: 'MCP_RATE_LIMITED' });
    expect(rig.upstreams).toHaveLength(2);
    // What is there serves on, and when it ends a new one comes, whoever still waits for the first.
    const more = await rig.leaseShared(createAppServer());
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
    const rig = createConnectionsRig();
    const first = rig.leaseShared(createAppServer());
    await waitForImmediate();
    rig.pendingOpens[0]!.complete();
    await first;
    const pendingLeases = Array.from({ length: 5 }, () =>
      rig.leaseShared(createAppServer(), { forceNew: true }),
    );
    const settled = Promise.allSettled(pendingLeases);
    await waitForImmediate();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    rig.pendingOpens[1]!.complete();
    const outcomes = (await settled).map(({ status }) => status);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'rejected']);
    expect(rig.upstreams).toHaveLength(2);
  });
});
