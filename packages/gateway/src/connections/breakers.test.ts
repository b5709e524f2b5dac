import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  connectionsRig,
  holder,
  remote,
  stdio,
  turn,
  userServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const open = { reason: 'breaker_open' };

/** Fails this often to open, in the way a dead host does. */
async function failToOpen(rig: ConnectionsRig, times: number, who = holder('ann')): Promise<void> {
  rig.answer = (opening) => opening.refuse('connect_timeout');
  for (let i = 0; i < times; i += 1) {
    await expect(rig.user(userServer(), who)).rejects.toMatchObject({ reason: 'connect_timeout' });
  }
}

/** One use that ends with this failure. */
async function useOnce(rig: ConnectionsRig, who: string, failure?: UpstreamReason): Promise<void> {
  const lease = await rig.user(userServer(), holder(who));
  lease.release(failure && new UpstreamError(failure));
}

describe('the transport breaker', () => {
  test('three failures in a row close the road for everybody', async () => {
    const rig = connectionsRig();
    await failToOpen(rig, 3);
    const openingsBefore = rig.openings.length;
    await expect(rig.user(userServer(), holder('bob'))).rejects.toMatchObject({
      ...open,
      code: 'MCP_BREAKER_OPEN',
      detail: { retryAfterMs: 30_000 },
    });
    expect(rig.openings).toHaveLength(openingsBefore);
    expect(rig.manager.counts().breakersOpen).toBe(1);
    expect(rig.manager.state(userServer(), 'bob')).toEqual({
      connection: 'error',
      code: 'MCP_BREAKER_OPEN',
      since: rig.clock.now(),
      retryAt: rig.clock.now() + 30_000,
    });
    // A changed definition starts afresh.
    rig.answer = (opening) => void opening.land();
    expect(rig.manager.state(userServer('own', '2'), 'bob').connection).toBe('disconnected');
    await rig.user(userServer('own', '2'), holder('bob'));
    // Another server and another address of the same server are open.
    rig.answer = (opening) => void opening.land();
    await rig.user(userServer('else'), holder('bob'));
    await rig.user(userServer(), holder('bob', { target: remote('https://two.example/mcp') }));
  });

  test('what cannot be sent counts in use too, and a success in between forgives', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    const ends = ['connect_failed', 'ended', undefined, 'connect_timeout', 'connect_failed'] as const;
    for (const failure of ends) await useOnce(rig, 'ann', failure);
    await useOnce(rig, 'bob', 'ended');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
  });

  test('a handshake that never ends counts, a slow tool does not', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.refuse('timeout');
    for (let i = 0; i < 3; i += 1)
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ reason: 'timeout' });
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    const slow = connectionsRig();
    slow.answer = (opening) => void opening.land('modern');
    for (let i = 0; i < 5; i += 1) await useOnce(slow, 'ann', 'timeout');
    await useOnce(slow, 'ann');
  });

  test('answers of any kind, and our own refusals, never count', async () => {
    const innocent: UpstreamReason[] = [
      'rpc_error',
      'insufficient_scope',
      'rate_limited',
      'too_large',
      'bad_request',
      'garbage',
      'upstream_5xx',
      'stream_broken',
      'not_allowed',
      'too_many',
      'input_required',
    ];
    for (const reason of innocent) {
      const rig = connectionsRig();
      rig.answer = (opening) => void opening.land('modern');
      for (let i = 0; i < 5; i += 1) await useOnce(rig, 'ann', reason);
      rig.answer = (opening) => opening.refuse(reason);
      for (let i = 0; i < 5; i += 1) {
        await expect(rig.user(userServer('else'), holder('ann'))).rejects.toMatchObject({ reason });
      }
      expect(rig.manager.counts().breakersOpen).toBe(0);
    }
  });

  test('a call that was given up proves nothing', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    const leaving = new AbortController();
    const givenUp = await rig.user(userServer(), holder('ann'), { signal: leaving.signal });
    for (let i = 0; i < 2; i += 1) await useOnce(rig, 'ann', 'connect_failed');
    leaving.abort();
    givenUp.release();
    await useOnce(rig, 'ann', 'connect_failed');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
  });

  test("one user's dying child process is not the others'", async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.refuse('connect_timeout');
    const child = (who: string) => rig.user(userServer(), holder(who, { target: stdio }));
    for (let i = 0; i < 3; i += 1)
      await expect(child('ann')).rejects.toMatchObject({ reason: 'connect_timeout' });
    await expect(child('ann')).rejects.toMatchObject(open);
    rig.answer = (opening) => void opening.land();
    await child('bob');
    expect(rig.manager.state(userServer(), 'ann').connection).toBe('error');
    expect(rig.manager.state(userServer(), 'bob').connection).toBe('connected');
  });

  test('a hundred users who wait for one failed opening are one failure', async () => {
    const rig = connectionsRig();
    const pendingLeases = Array.from({ length: 100 }, () => rig.shared(appServer()));
    await turn();
    rig.openings[0]!.refuse('connect_timeout');
    await Promise.allSettled(pendingLeases);
    expect(rig.manager.counts().breakersOpen).toBe(0);
  });

  test('when the time is over one caller tries, and success opens', async () => {
    const rig = connectionsRig();
    await failToOpen(rig, 3);
    await rig.clock.advance(29_999);
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await rig.clock.advance(1);
    rig.answer = undefined;
    const before = rig.openings.length;
    const probe = rig.user(userServer(), holder('ann'));
    await turn();
    for (const who of ['ann', 'bob', 'eve']) await expect(useOnce(rig, who)).rejects.toMatchObject(open);
    expect(rig.openings).toHaveLength(before + 1);
    rig.openings.at(-1)!.land();
    (await probe).release();
    rig.answer = (opening) => void opening.land();
    for (const who of ['ann', 'bob', 'eve']) await useOnce(rig, who);
    expect(rig.manager.counts().breakersOpen).toBe(0);
  });

  test('a probe whose caller left is still the one probe', async () => {
    const rig = connectionsRig();
    await failToOpen(rig, 3);
    await rig.clock.advance(30_000);
    rig.answer = undefined;
    const leaving = new AbortController();
    const probe = rig.user(userServer(), holder('ann'), { signal: leaving.signal });
    await turn();
    leaving.abort();
    await expect(probe).rejects.toThrow();
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    rig.openings.at(-1)!.refuse('upstream_5xx');
    await turn();
    // It found nothing out: the next one may try at once.
    rig.answer = (opening) => void opening.land();
    await useOnce(rig, 'bob');
  });

  test('a use can be the probe, and one that hangs is replaced', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', 'connect_failed');
    await rig.clock.advance(30_000);
    await rig.user(userServer(), holder('ann'));
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    await rig.clock.advance(30_000);
    await useOnce(rig, 'bob');
    await useOnce(rig, 'eve');
  });

  test('each failed probe doubles the wait, up to five minutes', async () => {
    const rig = connectionsRig();
    await failToOpen(rig, 3);
    for (const wait of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      await rig.clock.advance(wait - 1);
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
      await rig.clock.advance(1);
      await failToOpen(rig, 1);
    }
    await rig.clock.advance(300_000);
    rig.answer = (opening) => void opening.land();
    await useOnce(rig, 'ann');
    // A success starts anew.
    await rig.manager.dropForPrincipal('ann');
    await failToOpen(rig, 3);
    await rig.clock.advance(30_000);
    rig.answer = (opening) => void opening.land();
    await useOnce(rig, 'ann');
  });

  test('an explicit wish passes for that user, and a success is for all', async () => {
    const rig = connectionsRig();
    await failToOpen(rig, 3);
    const requestLease = () => rig.user(userServer(), holder('ann'), { explicit: true, forceNew: true });
    await expect(requestLease()).rejects.toMatchObject({ reason: 'connect_timeout' });
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    // Retries do not make the others wait longer.
    for (let i = 0; i < 5; i += 1)
      await expect(requestLease()).rejects.toMatchObject({ reason: 'connect_timeout' });
    expect(rig.manager.state(userServer(), 'bob').retryAt).toBe(rig.clock.now() + 30_000);
    rig.answer = (opening) => void opening.land();
    await requestLease();
    await useOnce(rig, 'bob');
  });

  test('a hundred users connect to one healthy server in ten seconds', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const target = remote(undefined, { type: 'sse' });
    for (let i = 0; i < 100; i += 1) {
      (await rig.user(userServer(), holder(`user ${i}`, { target }))).release();
      await rig.clock.advance(100);
    }
    expect(rig.upstreams).toHaveLength(100);
    expect(rig.manager.counts()).toMatchObject({ user: 100, breakersOpen: 0 });
  });

  test('what failed long ago is forgotten, and there is a limit', async () => {
    const rig = connectionsRig({ maxEntries: 5 });
    rig.answer = (opening) => opening.refuse('connect_timeout');
    const fails = async (id: string) => {
      for (let i = 0; i < 3; i += 1) await expect(rig.user(userServer(id), holder('ann'))).rejects.toThrow();
    };
    for (let i = 0; i < 20; i += 1) await fails(String(i));
    expect(rig.manager.counts().breakersOpen).toBe(5);
    expect(rig.manager.state(userServer('19'), 'ann').connection).toBe('error');
    await rig.clock.advance(20 * 60_000);
    expect(rig.manager.counts().breakersOpen).toBe(0);
    expect(rig.manager.state(userServer('19'), 'ann')).toEqual({ connection: 'disconnected' });
  });
});

describe('the credential breaker', () => {
  test('one user who is refused waits alone', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', i === 1 ? 'forbidden' : 'unauthorized');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ ...open, detail: { retryAfterMs: 30_000 } });
    await useOnce(rig, 'bob');
    // The other server of the same user is not touched either.
    await rig.user(userServer('else'), holder('ann'));
    expect(rig.manager.state(userServer(), 'ann')).toMatchObject({
      connection: 'error',
      code: 'MCP_CREDENTIAL_REJECTED',
    });
    expect(rig.manager.state(userServer(), 'bob').connection).toBe('connected');
  });

  test('a user who is refused ten times at the door opens nothing for others', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => {
      if (opening.options.owner === 'ann') opening.refuse('unauthorized');
      else opening.land('legacy');
    };
    for (let i = 0; i < 10; i += 1) await expect(useOnce(rig, 'ann')).rejects.toBeInstanceOf(UpstreamError);
    expect(rig.openings).toHaveLength(3);
    await useOnce(rig, 'bob');
    expect(rig.manager.counts().breakersOpen).toBe(1);
  });

  test('a new grant starts afresh; a success forgives', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', 'unauthorized');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    const renewed = holder('ann', { binding: 'another grant' });
    (await rig.user(userServer(), renewed)).release();
    for (const failure of ['unauthorized', 'unauthorized', undefined, 'unauthorized'] as const) {
      (await rig.user(userServer(), renewed)).release(failure && new UpstreamError(failure));
    }
    (await rig.user(userServer(), renewed)).release();
  });

  test('a handshake that anybody may do does not forgive', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    for (let i = 0; i < 3; i += 1) {
      const lease = await rig.user(userServer(), holder('ann'), { forceNew: true });
      lease.release(new UpstreamError('unauthorized'));
    }
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await rig.clock.advance(30_000);
    // One probe, as everywhere.
    const probe = await rig.user(userServer(), holder('ann'));
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    probe.release();
    await useOnce(rig, 'ann');
  });
});
