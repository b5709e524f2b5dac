import { describe, expect, test } from '@jest/globals';
import { appServer, connectionsRig, holder, stdio, turn, userServer } from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const shutdown = { reason: 'ended' };

describe('the end of all connections', () => {
  test('what is being opened at a shutdown is closed, and its opener told', async () => {
    const rig = connectionsRig();
    const pendingLease = rig.shared(appServer());
    const refused = expect(pendingLease).rejects.toMatchObject(shutdown);
    await turn();
    let done = false;
    const closing = rig.manager.close().then(() => (done = true));
    expect(rig.openings[0]!.options.signal.aborted).toBe(true);
    // Who waits is told at once; the shutdown waits for what may still come.
    await refused;
    await turn();
    expect(done).toBe(false);
    const upstream = rig.openings[0]!.land();
    await closing;
    expect(upstream.closed).toBe(1);
  });

  test('nothing is opened after a shutdown', async () => {
    const rig = connectionsRig();
    await rig.manager.close();
    await expect(rig.shared(appServer())).rejects.toMatchObject(shutdown);
    await expect(rig.user(userServer(), holder('ann'))).rejects.toMatchObject(shutdown);
    await expect(rig.shared(appServer(), { forceNew: true })).rejects.toMatchObject(shutdown);
    expect(rig.openings).toHaveLength(0);
  });

  test('who stood in line for a replacement is sent away', async () => {
    const rig = connectionsRig();
    const pendingLeases = [1, 2, 3].map(() => rig.shared(appServer(), { forceNew: true }));
    const refused = Promise.all(pendingLeases.map((each) => expect(each).rejects.toMatchObject(shutdown)));
    await turn();
    const closing = rig.manager.close();
    rig.openings[0]!.refuse('garbage');
    await refused;
    await closing;
    expect(rig.openings).toHaveLength(1);
  });

  test('one that cannot be closed does not keep the others open', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    await rig.shared(appServer('throws'));
    await rig.shared(appServer('rejects'));
    await rig.shared(appServer('fine'));
    Object.assign(rig.upstreams[0]!, {
      close() {
        throw new Error('stuck');
      },
    });
    Object.assign(rig.upstreams[1]!, { close: () => Promise.reject(new Error('stuck')) });
    await rig.manager.close();
    await rig.manager.close();
    expect(rig.upstreams[2]!.closed).toBe(1);
  });

  test('all kinds are closed once, in use or not', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    await rig.shared(appServer());
    await rig.user(userServer('session'), holder('ann', { target: stdio }));
    const outdated = await rig.user(userServer('outdated'), holder('ann'));
    rig.manager.update([appServer(), userServer('session')]);
    rig.answer = (opening) => void opening.land('modern');
    (await rig.user(userServer('modern'), holder('ann'))).release();
    await Promise.all([rig.manager.close(), rig.manager.close()]);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 1, 1, 1]);
    outdated.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 1, 1, 1]);
    expect(rig.manager.counts()).toEqual({ shared: 0, user: 0, stateless: 0, breakersOpen: 0 });
  });

  test('a close or an opening that hangs is waited for five seconds', async () => {
    for (const hanging of ['close', 'open'] as const) {
      const rig = connectionsRig();
      const pendingLease = rig.user(userServer(), holder('ann'));
      await turn();
      if (hanging === 'close') {
        Object.assign(rig.openings[0]!.land('legacy'), { close: () => new Promise(() => undefined) });
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
    const rig = connectionsRig({ maxPerPrincipal: 1 });
    rig.answer = (opening) => void opening.land('legacy');
    (await rig.user(userServer('one'), holder('ann'))).release();
    Object.assign(rig.upstreams[0]!, { close: () => new Promise(() => undefined) });
    await rig.user(userServer('two'), holder('ann'));
    let dropped = false;
    void rig.manager.dropForServer('one', 'ann').then(() => (dropped = true));
    await rig.clock.advance(5_000);
    expect(dropped).toBe(true);
  });
});

describe('the state of a connection', () => {
  test('it follows the connection', async () => {
    const rig = connectionsRig();
    const [app, own] = [appServer(), userServer()];
    const states = () => [app, own].map((server) => rig.manager.state(server, 'ann').connection);
    expect(states()).toEqual(['disconnected', 'disconnected']);
    const pendingLeases = [rig.shared(app), rig.user(own, holder('ann'))];
    await turn();
    expect(states()).toEqual(['connecting', 'connecting']);
    for (const opening of rig.openings) opening.land('legacy');
    await Promise.all(pendingLeases);
    expect(states()).toEqual(['connected', 'connected']);
    expect(rig.manager.state(own, 'bob').connection).toBe('disconnected');
    expect(rig.manager.state(userServer('own', '2'), 'ann').connection).toBe('disconnected');
    for (const upstream of rig.upstreams) upstream.drop();
    expect(states()).toEqual(['disconnected', 'disconnected']);
  });

  test('a failure is told to whom it concerns, until it is over', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.refuse('wrong_url');
    await expect(rig.user(userServer(), holder('ann'))).rejects.toThrow();
    await expect(rig.shared(appServer())).rejects.toThrow();
    const failed = { connection: 'error', code: 'MCP_PROTOCOL_ERROR', since: rig.clock.now() };
    expect(rig.manager.state(userServer(), 'ann')).toEqual(failed);
    expect(rig.manager.state(userServer(), 'bob')).toEqual({ connection: 'disconnected' });
    expect(rig.manager.state(appServer(), 'bob')).toEqual(failed);
    rig.answer = (opening) => void opening.land('legacy');
    (await rig.user(userServer(), holder('ann'))).release();
    await rig.manager.dropForServer('own', 'ann');
    expect(rig.manager.state(userServer(), 'ann')).toEqual({ connection: 'disconnected' });
  });

  test('where nobody answers any more, an open one is none', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const ask = async (failure?: UpstreamError) => {
      (await rig.user(userServer(), holder('ann'))).release(failure);
      (await rig.shared(appServer())).release(failure);
      return [userServer(), appServer()].map((server) => rig.manager.state(server, 'ann'));
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
    expect(rig.manager.state(userServer(), 'bob')).toEqual({ connection: 'disconnected' });
    expect(await ask()).toEqual(both({ connection: 'connected' }));
  });
});
