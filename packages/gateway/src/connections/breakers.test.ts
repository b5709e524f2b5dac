import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  stdioTarget,
  waitForImmediate,
  createUserServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const open = { reason: 'breaker_open' };

/** Fails this often to open, in the way a dead host does. */
async function failToOpen(rig: ConnectionsRig, times: number, who = createHolder('ann')): Promise<void> {
  rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
  for (let i = 0; i < times; i += 1) {
    await expect(rig.leaseUser(createUserServer(), who)).rejects.toMatchObject({ reason: 'connect_timeout' });
  }
}

/** One use that ends with this failure. */
async function useOnce(rig: ConnectionsRig, who: string, failure?: UpstreamReason): Promise<void> {
  const lease = await rig.leaseUser(createUserServer(), createHolder(who));
  lease.release(failure && new UpstreamError(failure));
}

describe('the transport breaker', () => {
  test('three failures in a row close the road for everybody', async () => {
    const rig = createConnectionsRig();
    await failToOpen(rig, 3);
    const openingsBefore = rig.pendingOpens.length;
    await expect(rig.leaseUser(createUserServer(), createHolder('bob'))).rejects.toMatchObject({
      ...open,
      code: 'MCP_BREAKER_OPEN',
      detail: { retryAfterMs: 30_000 },
    });
    expect(rig.pendingOpens).toHaveLength(openingsBefore);
    expect(rig.manager.counts().breakersOpen).toBe(1);
    expect(rig.manager.state(createUserServer(), 'bob')).toEqual({
      connection: 'error',
      code: 'MCP_BREAKER_OPEN',
      since: rig.clock.now(),
      retryAt: rig.clock.now() + 30_000,
    });
    // A changed definition starts afresh.
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    expect(rig.manager.state(createUserServer('own', '2'), 'bob').connection).toBe('disconnected');
    await rig.leaseUser(createUserServer('own', '2'), createHolder('bob'));
    // Another server and another address of the same server are open.
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await rig.leaseUser(createUserServer('else'), createHolder('bob'));
    await rig.leaseUser(
      createUserServer(),
      createHolder('bob', { target: createRemoteTarget('https://two.example/mcp') }),
    );
  });

  test('what cannot be sent counts in use too, and a success in between forgives', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const ends = ['connect_failed', 'ended', undefined, 'connect_timeout', 'connect_failed'] as const;
    for (const failure of ends) await useOnce(rig, 'ann', failure);
    await useOnce(rig, 'bob', 'ended');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
  });

  test('a handshake that never ends counts, a slow tool does not', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('timeout');
    for (let i = 0; i < 3; i += 1)
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ reason: 'timeout' });
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    const slow = createConnectionsRig();
    slow.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
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
      'invalid_response',
      'upstream_5xx',
      'stream_broken',
      'not_allowed',
      'too_many',
      'input_required',
    ];
    for (const reason of innocent) {
      const rig = createConnectionsRig();
      rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
      for (let i = 0; i < 5; i += 1) await useOnce(rig, 'ann', reason);
      rig.onOpen = (pendingOpen) => pendingOpen.fail(reason);
      for (let i = 0; i < 5; i += 1) {
        await expect(rig.leaseUser(createUserServer('else'), createHolder('ann'))).rejects.toMatchObject({
          reason,
        });
      }
      expect(rig.manager.counts().breakersOpen).toBe(0);
    }
  });

  test('a call that was given up proves nothing', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const abortController = new AbortController();
    const givenUp = await rig.leaseUser(createUserServer(), createHolder('ann'), {
      signal: abortController.signal,
    });
    for (let i = 0; i < 2; i += 1) await useOnce(rig, 'ann', 'connect_failed');
    abortController.abort();
    givenUp.release();
    await useOnce(rig, 'ann', 'connect_failed');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
  });

  test("one user's dying child process is not the others'", async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    const child = (who: string) =>
      rig.leaseUser(createUserServer(), createHolder(who, { target: stdioTarget }));
    for (let i = 0; i < 3; i += 1)
      await expect(child('ann')).rejects.toMatchObject({ reason: 'connect_timeout' });
    await expect(child('ann')).rejects.toMatchObject(open);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await child('bob');
    expect(rig.manager.state(createUserServer(), 'ann').connection).toBe('error');
    expect(rig.manager.state(createUserServer(), 'bob').connection).toBe('connected');
  });

  test('a hundred users who wait for one failed opening are one failure', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = Array.from({ length: 100 }, () => rig.leaseShared(createAppServer()));
    await waitForImmediate();
    rig.pendingOpens[0]!.fail('connect_timeout');
    await Promise.allSettled(pendingLeases);
    expect(rig.manager.counts().breakersOpen).toBe(0);
  });

  test('when the time is over one caller tries, and success opens', async () => {
    const rig = createConnectionsRig();
    await failToOpen(rig, 3);
    await rig.clock.advance(29_999);
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await rig.clock.advance(1);
    rig.onOpen = undefined;
    const before = rig.pendingOpens.length;
    const probe = rig.leaseUser(createUserServer(), createHolder('ann'));
    await waitForImmediate();
    for (const who of ['ann', 'bob', 'eve']) await expect(useOnce(rig, who)).rejects.toMatchObject(open);
    expect(rig.pendingOpens).toHaveLength(before + 1);
    rig.pendingOpens.at(-1)!.complete();
    (await probe).release();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    for (const who of ['ann', 'bob', 'eve']) await useOnce(rig, who);
    expect(rig.manager.counts().breakersOpen).toBe(0);
  });

  test('a probe whose caller left is still the one probe', async () => {
    const rig = createConnectionsRig();
    await failToOpen(rig, 3);
    await rig.clock.advance(30_000);
    rig.onOpen = undefined;
    const abortController = new AbortController();
    const probe = rig.leaseUser(createUserServer(), createHolder('ann'), { signal: abortController.signal });
    await waitForImmediate();
    abortController.abort();
    await expect(probe).rejects.toThrow();
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    rig.pendingOpens.at(-1)!.fail('upstream_5xx');
    await waitForImmediate();
    // It found nothing out: the next one may try at once.
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await useOnce(rig, 'bob');
  });

  test('a use can be the probe, and one that hangs is replaced', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', 'connect_failed');
    await rig.clock.advance(30_000);
    await rig.leaseUser(createUserServer(), createHolder('ann'));
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    await rig.clock.advance(30_000);
    await useOnce(rig, 'bob');
    await useOnce(rig, 'eve');
  });

  test('each failed probe doubles the wait, up to five minutes', async () => {
    const rig = createConnectionsRig();
    await failToOpen(rig, 3);
    for (const wait of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      await rig.clock.advance(wait - 1);
      await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
      await rig.clock.advance(1);
      await failToOpen(rig, 1);
    }
    await rig.clock.advance(300_000);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await useOnce(rig, 'ann');
    // A success starts anew.
    await rig.manager.dropForPrincipal('ann');
    await failToOpen(rig, 3);
    await rig.clock.advance(30_000);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await useOnce(rig, 'ann');
  });

  test('an explicit wish passes for that user, and a success is for all', async () => {
    const rig = createConnectionsRig();
    await failToOpen(rig, 3);
    const requestLease = () =>
      rig.leaseUser(createUserServer(), createHolder('ann'), { bypassesBreaker: true, forceNew: true });
    await expect(requestLease()).rejects.toMatchObject({ reason: 'connect_timeout' });
    await expect(useOnce(rig, 'bob')).rejects.toMatchObject(open);
    // Retries do not make the others wait longer.
    for (let i = 0; i < 5; i += 1)
      await expect(requestLease()).rejects.toMatchObject({ reason: 'connect_timeout' });
    expect(rig.manager.state(createUserServer(), 'bob').retryAt).toBe(rig.clock.now() + 30_000);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    await requestLease();
    await useOnce(rig, 'bob');
  });

  test('a hundred users connect to one healthy server in ten seconds', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const target = createRemoteTarget(undefined, { type: 'sse' });
    for (let i = 0; i < 100; i += 1) {
      (await rig.leaseUser(createUserServer(), createHolder(`user ${i}`, { target }))).release();
      await rig.clock.advance(100);
    }
    expect(rig.upstreams).toHaveLength(100);
    expect(rig.manager.counts()).toMatchObject({ user: 100, breakersOpen: 0 });
  });

  test('what failed long ago is forgotten, and there is a limit', async () => {
    const rig = createConnectionsRig({ maxEntries: 5 });
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    const fails = async (id: string) => {
      for (let i = 0; i < 3; i += 1)
        await expect(rig.leaseUser(createUserServer(id), createHolder('ann'))).rejects.toThrow();
    };
    for (let i = 0; i < 20; i += 1) await fails(String(i));
    expect(rig.manager.counts().breakersOpen).toBe(5);
    expect(rig.manager.state(createUserServer('19'), 'ann').connection).toBe('error');
    await rig.clock.advance(20 * 60_000);
    expect(rig.manager.counts().breakersOpen).toBe(0);
    expect(rig.manager.state(createUserServer('19'), 'ann')).toEqual({ connection: 'disconnected' });
  });
});

describe('the credential breaker', () => {
  test('one user who is refused waits alone', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', i === 1 ? 'forbidden' : 'unauthorized');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject({ ...open, detail: { retryAfterMs: 30_000 } });
    await useOnce(rig, 'bob');
    // The other server of the same user is not touched either.
    await rig.leaseUser(createUserServer('else'), createHolder('ann'));
    expect(rig.manager.state(createUserServer(), 'ann')).toMatchObject({
      connection: 'error',
      code: 'MCP_CREDENTIAL_REJECTED',
    });
    expect(rig.manager.state(createUserServer(), 'bob').connection).toBe('connected');
  });

  test('a user who is refused ten times at the door opens nothing for others', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => {
      if (pendingOpen.options.owner === 'ann') pendingOpen.fail('unauthorized');
      else pendingOpen.complete('legacy');
    };
    for (let i = 0; i < 10; i += 1) await expect(useOnce(rig, 'ann')).rejects.toBeInstanceOf(UpstreamError);
    expect(rig.pendingOpens).toHaveLength(3);
    await useOnce(rig, 'bob');
    expect(rig.manager.counts().breakersOpen).toBe(1);
  });

  test('a new grant starts afresh; a success forgives', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    for (let i = 0; i < 3; i += 1) await useOnce(rig, 'ann', 'unauthorized');
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    const renewed = createHolder('ann', { binding: 'another grant' });
    (await rig.leaseUser(createUserServer(), renewed)).release();
    for (const failure of ['unauthorized', 'unauthorized', undefined, 'unauthorized'] as const) {
      (await rig.leaseUser(createUserServer(), renewed)).release(failure && new UpstreamError(failure));
    }
    (await rig.leaseUser(createUserServer(), renewed)).release();
  });

  test('a handshake that anybody may do does not forgive', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    for (let i = 0; i < 3; i += 1) {
      const lease = await rig.leaseUser(createUserServer(), createHolder('ann'), { forceNew: true });
      lease.release(new UpstreamError('unauthorized'));
    }
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    await rig.clock.advance(30_000);
    // One probe, as everywhere.
    const probe = await rig.leaseUser(createUserServer(), createHolder('ann'));
    await expect(useOnce(rig, 'ann')).rejects.toMatchObject(open);
    probe.release();
    await useOnce(rig, 'ann');
  });
});
