import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  connectionsRig,
  holder,
  remote,
  userServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

async function openBreaker(rig: ConnectionsRig, server = appServer()): Promise<void> {
  rig.answer = (opening) => opening.refuse('connect_timeout');
  rig.manager.update([server]);
  for (let i = 0; i < 3; i += 1) await expect(rig.shared(server)).rejects.toBeInstanceOf(UpstreamError);
  expect(rig.openings).toHaveLength(3);
}

describe('parked servers', () => {
  test('a shared server comes back without anybody asking', async () => {
    const rig = connectionsRig();
    await openBreaker(rig);
    await rig.clock.advance(34_000);
    expect(rig.openings).toHaveLength(4);
    rig.answer = (opening) => void opening.land();
    await rig.clock.advance(70_000);
    expect(rig.openings).toHaveLength(5);
    expect(rig.manager.state(appServer(), 'ann')).toEqual({ connection: 'connected' });
    expect(rig.manager.counts()).toMatchObject({ shared: 1, breakersOpen: 0 });
    // It is not tried any more.
    await rig.clock.advance(60 * 60_000);
    expect(rig.openings).toHaveLength(5);
  });

  test('one that fails in use is tried with a fresh connection', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    rig.manager.update([appServer()]);
    for (let i = 0; i < 3; i += 1) {
      (await rig.shared(appServer())).release(new UpstreamError('connect_failed'));
    }
    expect(rig.manager.counts().breakersOpen).toBe(1);
    await rig.clock.advance(34_000);
    expect(rig.manager.counts()).toMatchObject({ shared: 1, breakersOpen: 0 });
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  test('a removed or changed server is left alone, and so is all at the end', async () => {
    const rig = connectionsRig();
    await openBreaker(rig);
    rig.manager.update([appServer('app', '2', remote('https://two.example/mcp'))]);
    await rig.clock.advance(10 * 60_000);
    expect(rig.openings).toHaveLength(3);
    const other = connectionsRig();
    await openBreaker(other);
    await other.manager.close();
    await other.clock.advance(10 * 60_000);
    expect(other.openings).toHaveLength(3);
  });

  test("a user's server is never tried while its user is away", async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.refuse('connect_timeout');
    rig.manager.update([userServer()]);
    for (let i = 0; i < 3; i += 1) await expect(rig.user(userServer(), holder('ann'))).rejects.toThrow();
    await rig.clock.advance(10 * 60_000);
    expect(rig.openings).toHaveLength(3);
  });
});
