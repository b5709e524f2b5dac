import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  connectionsRig,
  holder,
  remote,
  turn,
  userServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const open = { reason: 'breaker_open' };

/** One use that ends with this failure. */
async function useOnce(rig: ConnectionsRig, who: string, failure?: UpstreamReason): Promise<void> {
  const lease = await rig.user(userServer(), holder(who));
  lease.release(failure && new UpstreamError(failure));
}

describe('what one user can do to the others', () => {
  test('calls that make the server hang up park it for nobody', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    for (let i = 0; i < 5; i += 1) await useOnce(rig, 'ann', 'reset');
    await useOnce(rig, 'bob');
    rig.manager.update([]);
    // In a handshake nothing of a caller's was sent that could have caused it.
    rig.answer = (opening) => opening.refuse('reset');
    for (let i = 0; i < 3; i += 1)
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ reason: 'reset' });
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
  });

  test('a 5xx that one user’s key provokes in the handshake is not the others’ loss', async () => {
    for (const reason of ['connect_failed', 'connect_timeout', 'reset'] as const) {
      const rig = connectionsRig();
      rig.answer = (opening) => opening.refuse(reason, { status: 500 });
      for (let i = 0; i < 5; i += 1) {
        const pendingLease = rig.user(userServer(), holder('ann'));
        pendingLease.catch(() => undefined);
        await rig.clock.advance(1_000);
        await expect(pendingLease).rejects.toMatchObject({ reason });
      }
      expect(rig.manager.counts().breakersOpen).toBe(0);
      rig.answer = (opening) => void opening.land();
      await useOnce(rig, 'bob');
    }
  });

  test('who stops waiting ends neither the opening nor its time limit, and parks nothing', async () => {
    for (const server of [appServer(), userServer()]) {
      const rig = connectionsRig();
      const ask = (options: object = {}) =>
        server.scope === 'app' ? rig.shared(server, options) : rig.user(server, holder('ann'), options);
      for (let i = 0; i < 5; i += 1) {
        const leaving = new AbortController();
        const pendingLease = ask({ explicit: true, forceNew: true, signal: leaving.signal });
        await turn();
        leaving.abort(new UpstreamError('connect_timeout'));
        await expect(pendingLease).rejects.toMatchObject({ reason: 'connect_timeout' });
      }
      expect(rig.openings).toHaveLength(1);
      expect(rig.openings[0]!.options).toMatchObject({ initTimeoutMs: 30_000 });
      expect(rig.openings[0]!.options.signal.aborted).toBe(false);
      expect(rig.manager.counts().breakersOpen).toBe(0);
      const patient = ask();
      await turn();
      const upstream = rig.openings[0]!.land();
      expect((await patient).upstream).toBe(upstream);
    }
  });

  test('an address that cannot be read fails by itself, before anything is opened or parked', async () => {
    const rig = connectionsRig();
    const odd = holder('ann', { target: remote('https://a b/') });
    for (let i = 0; i < 5; i += 1)
      await expect(rig.user(userServer(), odd)).rejects.toMatchObject({ reason: 'not_allowed' });
    expect(rig.openings).toHaveLength(0);
    // Also while something else is parked.
    rig.answer = (opening) => opening.refuse('connect_timeout');
    for (let i = 0; i < 3; i += 1) await expect(useOnce(rig, 'bob')).rejects.toThrow();
    await expect(rig.user(userServer(), odd)).rejects.toMatchObject({ reason: 'not_allowed' });
    expect(rig.manager.counts().breakersOpen).toBe(1);
  });
});
