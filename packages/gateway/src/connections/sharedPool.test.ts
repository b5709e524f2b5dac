import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  stdioTarget,
  waitForImmediate,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('the shared pool', () => {
  test('callers at once and later share one connection', async () => {
    const rig = createConnectionsRig();
    const server = createAppServer();
    const pendingLeases = Array.from({ length: 20 }, () => rig.leaseShared(server));
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    const upstream = rig.pendingOpens[0]!.complete();
    for (const lease of await Promise.all(pendingLeases)) expect(lease.upstream).toBe(upstream);
    expect((await rig.leaseShared(server)).upstream).toBe(upstream);
    expect(rig.pendingOpens).toHaveLength(1);
    expect(rig.manager.counts().shared).toBe(1);
  });

  test('two servers, and one name in two tenants, do not meet', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const servers = [
      createAppServer('a'),
      createAppServer('b'),
      { ...createAppServer('a'), tenant: 'other' },
      // What a concatenated key would mix up.
      { ...createAppServer('a"'), tenant: 'x' },
      { ...createAppServer('a'), tenant: 'x"' },
    ];
    const leases = await Promise.all(servers.map((server) => rig.leaseShared(server)));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(servers.length);
  });

  test('it is opened as configured, for nobody in particular', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const target = createRemoteTarget('https://shared.example/mcp', { headers: { 'x-key': 'operator' } });
    await rig.leaseShared(createAppServer('app', '1', target));
    expect(rig.pendingOpens[0]!.target).toBe(target);
    expect(rig.pendingOpens[0]!.options.owner).toBeUndefined();
    const { shared } = rig.manager;
    // The types are the promise: this must not compile, and the function has no third parameter to misuse.
    // @ts-expect-error a user's server has no shared connection
    const refused = () => shared.lease(createUserServer(), { signal: rig.signal });
    const holder = createHolder('ann');
    // @ts-expect-error there is no parameter for a user
    const alsoRefused = () => shared.lease(createAppServer(), { signal: rig.signal, holder });
    expect([refused, alsoRefused]).toHaveLength(2);
    expect(shared.lease.length).toBe(2);
  });

  test('one that ended is opened anew at the next call', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const server = createAppServer('app', '1', stdioTarget);
    const first = await rig.leaseShared(server);
    first.release();
    rig.upstreams[0]!.dropConnection();
    const second = await rig.leaseShared(server);
    expect(second.upstream).toBe(rig.upstreams[1]);
    // A late word of the first one changes nothing.
    rig.upstreams[0]!.dropConnection();
    expect((await rig.leaseShared(server)).upstream).toBe(rig.upstreams[1]);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
  });

  test('a failure is shared by those who waited and not kept', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = [rig.leaseShared(createAppServer()), rig.leaseShared(createAppServer())];
    await waitForImmediate();
    rig.pendingOpens[0]!.fail('invalid_response');
    for (const attempt of pendingLeases)
      await expect(attempt).rejects.toMatchObject({ reason: 'invalid_response' });
    const again = rig.leaseShared(createAppServer());
    const upstream = rig.pendingOpens[1]!.complete();
    expect((await again).upstream).toBe(upstream);
  });

  test('one that ends while it is handed out is not kept', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.complete().dropConnection();
    const lease = await rig.leaseShared(createAppServer());
    lease.release(new UpstreamError('ended'));
    expect(rig.upstreams[0]!.closeCount).toBe(1);
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    expect((await rig.leaseShared(createAppServer())).upstream).toBe(rig.upstreams[1]);
    await rig.manager.close();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 1]);
  });

  test('who leaves, leaves alone', async () => {
    const rig = createConnectionsRig();
    const impatient = [new AbortController(), new AbortController()];
    const [owner, waiter] = impatient.map(({ signal }) => rig.leaseShared(createAppServer(), { signal }));
    const patient = rig.leaseShared(createAppServer());
    impatient[0]!.abort(new Error('owner left'));
    impatient[1]!.abort(new Error('waiter left'));
    await expect(owner).rejects.toThrow('owner left');
    await expect(waiter).rejects.toThrow('waiter left');
    expect(rig.pendingOpens[0]!.options.signal.aborted).toBe(false);
    const upstream = rig.pendingOpens[0]!.complete();
    expect((await patient).upstream).toBe(upstream);
    await expect(rig.leaseShared(createAppServer(), { signal: impatient[0]!.signal })).rejects.toThrow(
      'owner left',
    );
  });

  test('with everybody gone it stands ready for the next', async () => {
    const rig = createConnectionsRig();
    const impatient = new AbortController();
    const pendingLease = rig.leaseShared(createAppServer(), { signal: impatient.signal });
    impatient.abort();
    await expect(pendingLease).rejects.toThrow();
    const upstream = rig.pendingOpens[0]!.complete();
    await waitForImmediate();
    expect((await rig.leaseShared(createAppServer())).upstream).toBe(upstream);
    expect(rig.pendingOpens).toHaveLength(1);
  });

  test('a server that did not change keeps its connection, and a call under way is not cut', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const [unchanged, changed] = [createAppServer('kept'), createAppServer('changed')];
    rig.manager.update([unchanged, changed]);
    (await rig.leaseShared(unchanged)).release();
    const [call, another] = [await rig.leaseShared(changed), await rig.leaseShared(changed)];
    const renewed = createAppServer('changed', '2');
    rig.manager.update([unchanged, renewed]);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0]);
    const fresh = await rig.leaseShared(renewed);
    expect(fresh.upstream).toBe(rig.upstreams[2]);
    expect((await rig.leaseShared(unchanged)).upstream).toBe(rig.upstreams[0]);
    // Said twice, it is still one of two.
    call.release();
    call.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0, 0]);
    another.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1, 0]);
    fresh.release();
    rig.manager.update([unchanged]);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1, 1]);
  });

  test('one that opens after its definition changed serves who waited, and is closed', async () => {
    const rig = createConnectionsRig();
    const old = createAppServer('app', '1');
    rig.manager.update([old]);
    const waited = rig.leaseShared(old);
    rig.manager.update([createAppServer('app', '2')]);
    const late = rig.pendingOpens[0]!.complete();
    const lease = await waited;
    expect(lease.upstream).toBe(late);
    expect(late.closeCount).toBe(0);
    lease.release();
    expect(late.closeCount).toBe(1);
  });

  test('nobody waits for one of an old definition: it is stopped, and what still comes is closed', async () => {
    const rig = createConnectionsRig();
    rig.manager.update([createAppServer('app', '1')]);
    const impatient = new AbortController();
    const pendingLease = rig.leaseShared(createAppServer('app', '1'), { signal: impatient.signal });
    rig.manager.update([createAppServer('app', '2')]);
    expect(rig.pendingOpens[0]!.options.signal.aborted).toBe(false);
    impatient.abort();
    await expect(pendingLease).rejects.toThrow();
    expect(rig.pendingOpens[0]!.options.signal.aborted).toBe(true);
    const late = rig.pendingOpens[0]!.complete();
    await waitForImmediate();
    expect(late.closeCount).toBe(1);
  });

  test('a call that comes late with an old definition is served, and its connection kept for nobody', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    rig.manager.update([createAppServer('app', '2')]);
    const late = await rig.leaseShared(createAppServer('app', '1'));
    late.release();
    expect(rig.upstreams[0]!.closeCount).toBe(1);
    expect(rig.manager.counts().shared).toBe(0);
  });

  test('a server that stops being shared loses its connection', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    rig.manager.update([createAppServer('one')]);
    (await rig.leaseShared(createAppServer('one'))).release();
    rig.manager.update([createUserServer('one')]);
    expect(rig.upstreams[0]!.closeCount).toBe(1);
  });
});
