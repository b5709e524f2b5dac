import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  createUserServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

async function openBreaker(rig: ConnectionsRig, server = createAppServer()): Promise<void> {
  rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
  rig.manager.update([server]);
  for (let i = 0; i < 3; i += 1) await expect(rig.leaseShared(server)).rejects.toBeInstanceOf(UpstreamError);
  expect(rig.pendingOpens).toHaveLength(3);
}

describe('parked servers', () => {
  test('a shared server comes back without anybody asking', async () => {
    const rig = createConnectionsRig();
    await openBreaker(rig);
    await rig.clock.advance(34_000);
    expect(rig.pendingOpens).toHaveLength(4);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await rig.clock.advance(70_000);
    expect(rig.pendingOpens).toHaveLength(5);
    expect(rig.manager.state(createAppServer(), 'ann')).toEqual({ connection: 'connected' });
    expect(rig.manager.counts()).toMatchObject({ shared: 1, breakersOpen: 0 });
    // It is not tried any more.
    await rig.clock.advance(60 * 60_000);
    expect(rig.pendingOpens).toHaveLength(5);
  });

  test('one that fails in use is tried with a fresh connection', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    rig.manager.update([createAppServer()]);
    for (let i = 0; i < 3; i += 1) {
      (await rig.leaseShared(createAppServer())).release(new UpstreamError('connect_failed'));
    }
    expect(rig.manager.counts().breakersOpen).toBe(1);
    await rig.clock.advance(34_000);
    expect(rig.manager.counts()).toMatchObject({ shared: 1, breakersOpen: 0 });
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
  });

  test('a removed or changed server is left alone, and so is all at the end', async () => {
    const rig = createConnectionsRig();
    await openBreaker(rig);
    rig.manager.update([createAppServer('app', '2', createRemoteTarget('https://two.example/mcp'))]);
    await rig.clock.advance(10 * 60_000);
    expect(rig.pendingOpens).toHaveLength(3);
    const other = createConnectionsRig();
    await openBreaker(other);
    await other.manager.close();
    await other.clock.advance(10 * 60_000);
    expect(other.pendingOpens).toHaveLength(3);
  });

  test("a user's server is never tried while its user is away", async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    rig.manager.update([createUserServer()]);
    for (let i = 0; i < 3; i += 1)
      await expect(rig.leaseUser(createUserServer(), createHolder('ann'))).rejects.toThrow();
    await rig.clock.advance(10 * 60_000);
    expect(rig.pendingOpens).toHaveLength(3);
  });
});
