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

const shutdown = { reason: 'ended' };

describe('the end of all connections', () => {
  test('what is being opened at a shutdown is closed, and its opener told', async () => {
    const rig = createConnectionsRig();
    const pendingLease = rig.leaseShared(createAppServer());
    const refused = expect(pendingLease).rejects.toMatchObject(shutdown);
    await waitForImmediate();
    let done = false;
    const closing = rig.manager.close().then(() => (done = true));
    expect(rig.pendingOpens[0]!.options.signal.aborted).toBe(true);
    // Who waits is told at once; the shutdown waits for what may still come.
    await refused;
    await waitForImmediate();
    expect(done).toBe(false);
    const upstream = rig.pendingOpens[0]!.complete();
    await closing;
    expect(upstream.closeCount).toBe(1);
  });

  test('nothing is opened after a shutdown', async () => {
    const rig = createConnectionsRig();
    await rig.manager.close();
    await expect(rig.leaseShared(createAppServer())).rejects.toMatchObject(shutdown);
    await expect(rig.leaseUser(createUserServer(), createHolder('ann'))).rejects.toMatchObject(shutdown);
    await expect(rig.leaseShared(createAppServer(), { forceNew: true })).rejects.toMatchObject(shutdown);
    expect(rig.pendingOpens).toHaveLength(0);
  });

  test('who stood in line for a replacement is sent away', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = [1, 2, 3].map(() => rig.leaseShared(createAppServer(), { forceNew: true }));
    const refused = Promise.all(pendingLeases.map((each) => expect(each).rejects.toMatchObject(shutdown)));
    await waitForImmediate();
    const closing = rig.manager.close();
    rig.pendingOpens[0]!.fail('invalid_response');
    await refused;
    await closing;
    expect(rig.pendingOpens).toHaveLength(1);
  });

  test('one that cannot be closed does not keep the others open', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    await rig.leaseShared(createAppServer('throws'));
    await rig.leaseShared(createAppServer('rejects'));
    await rig.leaseShared(createAppServer('fine'));
    Object.assign(rig.upstreams[0]!, {
      close() {
        throw new Error('stuck');
      },
    });
    Object.assign(rig.upstreams[1]!, { close: () => Promise.reject(new Error('stuck')) });
    await rig.manager.close();
    await rig.manager.close();
    expect(rig.upstreams[2]!.closeCount).toBe(1);
  });

  test('all kinds are closed once, in use or not', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    await rig.leaseShared(createAppServer());
    await rig.leaseUser(createUserServer('session'), createHolder('ann', { target: stdioTarget }));
    const outdated = await rig.leaseUser(createUserServer('outdated'), createHolder('ann'));
    rig.manager.update([createAppServer(), createUserServer('session')]);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    (await rig.leaseUser(createUserServer('modern'), createHolder('ann'))).release();
    await Promise.all([rig.manager.close(), rig.manager.close()]);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 1, 1, 1]);
    outdated.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 1, 1, 1]);
    expect(rig.manager.counts()).toEqual({ shared: 0, user: 0, stateless: 0, breakersOpen: 0 });
  });

  test('a close or an opening that hangs is waited for five seconds', async () => {
    for (const hanging of ['close', 'open'] as const) {
      const rig = createConnectionsRig();
      const pendingLease = rig.leaseUser(createUserServer(), createHolder('ann'));
      await waitForImmediate();
      if (hanging === 'close') {
        Object.assign(rig.pendingOpens[0]!.complete('legacy'), { close: () => new Promise(() => undefined) });
        await pendingLease;
      } else pendingLease.catch(() => undefined);
      let done = false;
      const closing = rig.manager.close().then(() => (done = true));
      await rig.clock.advance(4_999);
      expect(done).toBe(false);
      await rig.clock.advance(1);
      await closing;
    }
  });

  test('an idle session that hangs on closing holds up nobody', async () => {
    const rig = createConnectionsRig({ maxPerPrincipal: 1 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    (await rig.leaseUser(createUserServer('one'), createHolder('ann'))).release();
    Object.assign(rig.upstreams[0]!, { close: () => new Promise(() => undefined) });
    await rig.leaseUser(createUserServer('two'), createHolder('ann'));
    let dropped = false;
    void rig.manager.dropForServer('one', 'ann').then(() => (dropped = true));
    await rig.clock.advance(5_000);
    expect(dropped).toBe(true);
  });
});

describe('the state of a connection', () => {
  test('it follows the connection', async () => {
    const rig = createConnectionsRig();
    const [app, own] = [createAppServer(), createUserServer()];
    const states = () => [app, own].map((server) => rig.manager.state(server, 'ann').connection);
    expect(states()).toEqual(['disconnected', 'disconnected']);
    const pendingLeases = [rig.leaseShared(app), rig.leaseUser(own, createHolder('ann'))];
    await waitForImmediate();
    expect(states()).toEqual(['connecting', 'connecting']);
    for (const pendingOpen of rig.pendingOpens) pendingOpen.complete('legacy');
    await Promise.all(pendingLeases);
    expect(states()).toEqual(['connected', 'connected']);
    expect(rig.manager.state(own, 'bob').connection).toBe('disconnected');
    expect(rig.manager.state(createUserServer('own', '2'), 'ann').connection).toBe('disconnected');
    for (const upstream of rig.upstreams) upstream.dropConnection();
    expect(states()).toEqual(['disconnected', 'disconnected']);
  });

  test('a failure is told to whom it concerns, until it is over', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('wrong_url');
    await expect(rig.leaseUser(createUserServer(), createHolder('ann'))).rejects.toThrow();
    await expect(rig.leaseShared(createAppServer())).rejects.toThrow();
    const failed = { connection: 'error', code: 'MCP_PROTOCOL_ERROR', since: rig.clock.now() };
    expect(rig.manager.state(createUserServer(), 'ann')).toEqual(failed);
    expect(rig.manager.state(createUserServer(), 'bob')).toEqual({ connection: 'disconnected' });
    expect(rig.manager.state(createAppServer(), 'bob')).toEqual(failed);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    (await rig.leaseUser(createUserServer(), createHolder('ann'))).release();
    await rig.manager.dropForServer('own', 'ann');
    expect(rig.manager.state(createUserServer(), 'ann')).toEqual({ connection: 'disconnected' });
  });

  test('where nobody answers any more, an open one is none', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const ask = async (failure?: UpstreamError) => {
      (await rig.leaseUser(createUserServer(), createHolder('ann'))).release(failure);
      (await rig.leaseShared(createAppServer())).release(failure);
      return [createUserServer(), createAppServer()].map((server) => rig.manager.state(server, 'ann'));
    };
    const both = (state: object) => [state, state];
    expect(await ask()).toEqual(both({ connection: 'connected' }));
    const since = rig.clock.now();
    const lost = new UpstreamError('connect_failed');
    expect(await ask(lost)).toEqual(both({ connection: 'error', code: 'MCP_UNREACHABLE', since }));
    // A slow tool says nothing, an error of a tool says that somebody is there.
    expect(await ask(new UpstreamError('timeout'))).toMatchObject(both({ connection: 'error' }));
    expect(await ask(new UpstreamError('rpc_error'))).toEqual(both({ connection: 'connected' }));
    await ask(lost);
    expect(rig.manager.state(createUserServer(), 'bob')).toEqual({ connection: 'disconnected' });
    expect(await ask()).toEqual(both({ connection: 'connected' }));
  });
});
