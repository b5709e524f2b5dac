import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  waitForImmediate,
  createUserServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const open = { reason: 'breaker_open' };

/** One use that ends with this failure. */
async function useOnce(rig: ConnectionsRig, who: string, failure?: UpstreamReason): Promise<void> {
  const lease = await rig.leaseUser(createUserServer(), createHolder(who));
  lease.release(failure && new UpstreamError(failure));
}

describe('what one user can do to the others', () => {
  test('calls that make the server hang up park it for nobody', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    for (let i = 0; i < 5; i += 1) await useOnce(rig, 'ann', 'reset');
    await useOnce(rig, 'bob');
    rig.manager.update([]);
    // In a handshake nothing of a caller's was sent that could have caused it.
    rig.onOpen = (pendingOpen) => pendingOpen.fail('reset');
    for (let i = 0; i < 3; i += 1)
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ reason: 'reset' });
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
  });

  test('a 5xx that one user’s key provokes in the handshake is not the others’ loss', async () => {
    for (const reason of ['connect_failed', 'connect_timeout', 'reset'] as const) {
      const rig = createConnectionsRig();
      rig.onOpen = (pendingOpen) => pendingOpen.fail(reason, { status: 500 });
      for (let i = 0; i < 5; i += 1) {
        const pendingLease = rig.leaseUser(createUserServer(), createHolder('ann'));
        pendingLease.catch(() => undefined);
        await rig.clock.advance(1_000);
        await expect(pendingLease).rejects.toMatchObject({ reason });
      }
      expect(rig.manager.counts().breakersOpen).toBe(0);
      rig.onOpen = (pendingOpen) => void pendingOpen.complete();
      await useOnce(rig, 'bob');
    }
  });

  test('who stops waiting ends neither the opening nor its time limit, and parks nothing', async () => {
    for (const server of [createAppServer(), createUserServer()]) {
      const rig = createConnectionsRig();
      const ask = (options: object = {}) =>
        server.scope === 'app'
          ? rig.leaseShared(server, options)
          : rig.leaseUser(server, createHolder('ann'), options);
      for (let i = 0; i < 5; i += 1) {
        const abortController = new AbortController();
        const pendingLease = ask({ bypassesBreaker: true, forceNew: true, signal: abortController.signal });
        await waitForImmediate();
        abortController.abort(new UpstreamError('connect_timeout'));
        await expect(pendingLease).rejects.toMatchObject({ reason: 'connect_timeout' });
      }
      expect(rig.pendingOpens).toHaveLength(1);
      expect(rig.pendingOpens[0]!.options).toMatchObject({ initTimeoutMs: 30_000 });
      expect(rig.pendingOpens[0]!.options.signal.aborted).toBe(false);
      expect(rig.manager.counts().breakersOpen).toBe(0);
      const patient = ask();
      await waitForImmediate();
      const upstream = rig.pendingOpens[0]!.complete();
      expect((await patient).upstream).toBe(upstream);
    }
  });

  test('an address that cannot be read fails by itself, before anything is opened or parked', async () => {
    const rig = createConnectionsRig();
    const odd = createHolder('ann', { target: createRemoteTarget('https://a b/') });
    for (let i = 0; i < 5; i += 1)
      await expect(rig.leaseUser(createUserServer(), odd)).rejects.toMatchObject({ reason: 'not_allowed' });
    expect(rig.pendingOpens).toHaveLength(0);
    // Also while something else is parked.
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    for (let i = 0; i < 3; i += 1) await expect(useOnce(rig, 'bob')).rejects.toThrow();
    await expect(rig.leaseUser(createUserServer(), odd)).rejects.toMatchObject({ reason: 'not_allowed' });
    expect(rig.manager.counts().breakersOpen).toBe(1);
  });
});
