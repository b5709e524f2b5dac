import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  connectionsRig,
  holder,
  remote,
  stdio,
  turn,
  userServer,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('the shared pool', () => {
  test('callers at once and later share one connection', async () => {
    const rig = connectionsRig();
    const server = appServer();
    const pendingLeases = Array.from({ length: 20 }, () => rig.shared(server));
    await turn();
    expect(rig.openings).toHaveLength(1);
    const upstream = rig.openings[0]!.land();
    for (const lease of await Promise.all(pendingLeases)) expect(lease.upstream).toBe(upstream);
    expect((await rig.shared(server)).upstream).toBe(upstream);
    expect(rig.openings).toHaveLength(1);
    expect(rig.manager.counts().shared).toBe(1);
  });

  test('two servers, and one name in two tenants, do not meet', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const servers = [
      appServer('a'),
      appServer('b'),
      { ...appServer('a'), tenant: 'other' },
      // What a concatenated key would mix up.
      { ...appServer('a"'), tenant: 'x' },
      { ...appServer('a'), tenant: 'x"' },
    ];
    const leases = await Promise.all(servers.map((server) => rig.shared(server)));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(servers.length);
  });

  test('it is opened as configured, for nobody in particular', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const target = remote('https://shared.example/mcp', { headers: { 'x-key': 'operator' } });
    await rig.shared(appServer('app', '1', target));
    expect(rig.openings[0]!.target).toBe(target);
    expect(rig.openings[0]!.options.owner).toBeUndefined();
    const { shared } = rig.manager;
    // The types are the promise: this must not compile, and the function has no third parameter to misuse.
    // @ts-expect-error a user's server has no shared connection
    const refused = () => shared.lease(userServer(), { signal: rig.signal });
    // @ts-expect-error there is no parameter for a user
    const alsoRefused = () => shared.lease(appServer(), { signal: rig.signal, holder: holder('ann') });
    expect([refused, alsoRefused]).toHaveLength(2);
    expect(shared.lease.length).toBe(2);
  });

  test('one that ended is opened anew at the next call', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const server = appServer('app', '1', stdio);
    const first = await rig.shared(server);
    first.release();
    rig.upstreams[0]!.drop();
    const second = await rig.shared(server);
    expect(second.upstream).toBe(rig.upstreams[1]);
    // A late word of the first one changes nothing.
    rig.upstreams[0]!.drop();
    expect((await rig.shared(server)).upstream).toBe(rig.upstreams[1]);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
  });

  test('a failure is shared by those who waited and not kept', async () => {
    const rig = connectionsRig();
    const pendingLeases = [rig.shared(appServer()), rig.shared(appServer())];
    await turn();
    rig.openings[0]!.refuse('garbage');
    for (const attempt of pendingLeases) await expect(attempt).rejects.toMatchObject({ reason: 'garbage' });
    const again = rig.shared(appServer());
    const upstream = rig.openings[1]!.land();
    expect((await again).upstream).toBe(upstream);
  });

  test('one that ends while it is handed out is not kept', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => opening.land().drop();
    const lease = await rig.shared(appServer());
    lease.release(new UpstreamError('ended'));
    expect(rig.upstreams[0]!.closed).toBe(1);
    rig.answer = (opening) => void opening.land();
    expect((await rig.shared(appServer())).upstream).toBe(rig.upstreams[1]);
    await rig.manager.close();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  test('who leaves, leaves alone', async () => {
    const rig = connectionsRig();
    const impatient = [new AbortController(), new AbortController()];
    const [owner, waiter] = impatient.map(({ signal }) => rig.shared(appServer(), { signal }));
    const patient = rig.shared(appServer());
    impatient[0]!.abort(new Error('owner left'));
    impatient[1]!.abort(new Error('waiter left'));
    await expect(owner).rejects.toThrow('owner left');
    await expect(waiter).rejects.toThrow('waiter left');
    expect(rig.openings[0]!.options.signal.aborted).toBe(false);
    const upstream = rig.openings[0]!.land();
    expect((await patient).upstream).toBe(upstream);
    await expect(rig.shared(appServer(), { signal: impatient[0]!.signal })).rejects.toThrow('owner left');
  });

  test('with everybody gone it stands ready for the next', async () => {
    const rig = connectionsRig();
    const impatient = new AbortController();
    const pendingLease = rig.shared(appServer(), { signal: impatient.signal });
    impatient.abort();
    await expect(pendingLease).rejects.toThrow();
    const upstream = rig.openings[0]!.land();
    await turn();
    expect((await rig.shared(appServer())).upstream).toBe(upstream);
    expect(rig.openings).toHaveLength(1);
  });

  test('a server that did not change keeps its connection, and a call under way is not cut', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const [unchanged, changed] = [appServer('kept'), appServer('changed')];
    rig.manager.update([unchanged, changed]);
    (await rig.shared(unchanged)).release();
    const [call, another] = [await rig.shared(changed), await rig.shared(changed)];
    const renewed = appServer('changed', '2');
    rig.manager.update([unchanged, renewed]);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0]);
    const fresh = await rig.shared(renewed);
    expect(fresh.upstream).toBe(rig.upstreams[2]);
    expect((await rig.shared(unchanged)).upstream).toBe(rig.upstreams[0]);
    // Said twice, it is still one of two.
    call.release();
    call.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0, 0]);
    another.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1, 0]);
    fresh.release();
    rig.manager.update([unchanged]);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1, 1]);
  });

  test('one that opens after its definition changed serves who waited, and is closed', async () => {
    const rig = connectionsRig();
    const old = appServer('app', '1');
    rig.manager.update([old]);
    const waited = rig.shared(old);
    rig.manager.update([appServer('app', '2')]);
    const late = rig.openings[0]!.land();
    const lease = await waited;
    expect(lease.upstream).toBe(late);
    expect(late.closed).toBe(0);
    lease.release();
    expect(late.closed).toBe(1);
  });

  test('nobody waits for one of an old definition: it is stopped, and what still comes is closed', async () => {
    const rig = connectionsRig();
    rig.manager.update([appServer('app', '1')]);
    const impatient = new AbortController();
    const pendingLease = rig.shared(appServer('app', '1'), { signal: impatient.signal });
    rig.manager.update([appServer('app', '2')]);
    expect(rig.openings[0]!.options.signal.aborted).toBe(false);
    impatient.abort();
    await expect(pendingLease).rejects.toThrow();
    expect(rig.openings[0]!.options.signal.aborted).toBe(true);
    const late = rig.openings[0]!.land();
    await turn();
    expect(late.closed).toBe(1);
  });

  test('a call that comes late with an old definition is served, and its connection kept for nobody', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    rig.manager.update([appServer('app', '2')]);
    const late = await rig.shared(appServer('app', '1'));
    late.release();
    expect(rig.upstreams[0]!.closed).toBe(1);
    expect(rig.manager.counts().shared).toBe(0);
  });

  test('a server that stops being shared loses its connection', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    rig.manager.update([appServer('one')]);
    (await rig.shared(appServer('one'))).release();
    rig.manager.update([userServer('one')]);
    expect(rig.upstreams[0]!.closed).toBe(1);
  });
});
