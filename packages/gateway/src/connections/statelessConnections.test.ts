import { describe, expect, test } from '@jest/globals';
import {
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  stdioTarget,
  waitForImmediate,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const users = (count: number) => Array.from({ length: count }, (_, i) => createHolder(`user ${i}`));

describe('servers that keep no session', () => {
  test('one opening serves all users, at once and later', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = users(100).map((user) => rig.leaseUser(createUserServer(), user));
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    const upstream = rig.pendingOpens[0]!.complete('modern');
    for (const lease of await Promise.all(pendingLeases)) {
      expect(lease.upstream).toBe(upstream);
      lease.release();
    }
    for (const user of users(200)) (await rig.leaseUser(createUserServer(), user)).release();
    expect(rig.pendingOpens).toHaveLength(1);
    expect(rig.manager.counts()).toEqual({ shared: 0, user: 0, stateless: 1, breakersOpen: 0 });
    expect(upstream.closeCount).toBe(0);
  });

  test("a user's failures and logout leave it to the others", async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const call = await rig.leaseUser(createUserServer(), createHolder('ann'));
    call.release(new UpstreamError('ended'));
    await rig.manager.dropForPrincipal('ann');
    await rig.manager.dropForServer('own', 'ann');
    expect((await rig.leaseUser(createUserServer(), createHolder('bob'))).upstream).toBe(call.upstream);
    expect(rig.upstreams[0]!.closeCount).toBe(0);
  });

  test('two that open at once leave one, and the other is closed', async () => {
    const rig = createConnectionsRig();
    const first = rig.leaseUser(createUserServer(), createHolder('ann'));
    await waitForImmediate();
    const second = rig.leaseUser(createUserServer(), createHolder('bob'));
    // Nobody waits long for somebody else's opening.
    await rig.clock.advance(2_000);
    expect(rig.pendingOpens).toHaveLength(2);
    const retained = rig.pendingOpens[1]!.complete('modern');
    expect((await second).upstream).toBe(retained);
    const surplus = rig.pendingOpens[0]!.complete('modern');
    expect((await first).upstream).toBe(retained);
    expect([retained.closeCount, surplus.closeCount]).toEqual([0, 1]);
  });

  test('another address, tier, proxy or revision has its own', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const targets = [
      createRemoteTarget(),
      createRemoteTarget('https://one.example/other'),
      createRemoteTarget(undefined, { audience: 'user-server' }),
      createRemoteTarget(undefined, { proxy: 'http://proxy.example' }),
    ];
    const leases = [];
    for (const target of targets)
      leases.push(await rig.leaseUser(createUserServer(), createHolder('ann', { target })));
    leases.push(await rig.leaseUser(createUserServer('own', '2'), createHolder('ann')));
    leases.push(await rig.leaseUser(createUserServer('else'), createHolder('ann')));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(6);
  });

  test('whatever is opened with a user inside stays that user’s, though it claims to keep no session', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const targets = [
      stdioTarget,
      createRemoteTarget(undefined, { type: 'websocket' }),
      createRemoteTarget(undefined, { type: 'sse' }),
    ] as const;
    for (const target of targets) {
      const server = createUserServer(target.type);
      const ann = await rig.leaseUser(server, createHolder('ann', { target, binding: 'equal' }));
      const bob = await rig.leaseUser(server, createHolder('bob', { target, binding: 'equal' }));
      expect(bob.upstream).not.toBe(ann.upstream);
    }
    expect(rig.manager.counts()).toMatchObject({ user: 6, stateless: 0 });
  });

  test('what the server told whoever came first is told to nobody', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = [createHolder('ann'), createHolder('bob')].map((who) =>
      rig.leaseUser(createUserServer(), who),
    );
    await waitForImmediate();
    const upstream = rig.pendingOpens[0]!.complete('modern', {
      instructions: 'Ann’s key is k1',
      name: 'same',
    });
    const [ann, bob] = await Promise.all(pendingLeases);
    expect(bob!.upstream).toBe(ann!.upstream);
    expect(ann!.upstream.claims).toEqual({ ...upstream.claims, instructions: undefined });
    // A session of one's own may say what it likes to its user.
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy', { instructions: 'mine' });
    const own = await rig.leaseUser(createUserServer('else'), createHolder('ann'));
    expect(own.upstream.claims.instructions).toBe('mine');
    await rig.manager.close();
    expect(upstream.closeCount).toBe(1);
  });

  test('after one user found sessions, each opens their own', async () => {
    const rig = createConnectionsRig();
    const pendingLeases = users(5).map((user) => rig.leaseUser(createUserServer(), user));
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    rig.pendingOpens[0]!.complete('legacy');
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(5);
    for (const pendingOpen of rig.pendingOpens.slice(1)) pendingOpen.complete('legacy');
    const leases = await Promise.all(pendingLeases);
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(5);
    // From now on nobody waits for another.
    const more = [
      rig.leaseUser(createUserServer(), createHolder('x')),
      rig.leaseUser(createUserServer(), createHolder('y')),
    ];
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(7);
    for (const pendingOpen of rig.pendingOpens.slice(5)) pendingOpen.complete('legacy');
    await Promise.all(more);
  });

  test('one user’s failure to open is not the others’', async () => {
    const rig = createConnectionsRig();
    const [ann, bob] = [
      rig.leaseUser(createUserServer(), createHolder('ann')),
      rig.leaseUser(createUserServer(), createHolder('bob')),
    ];
    await waitForImmediate();
    rig.pendingOpens[0]!.fail('unauthorized');
    await expect(ann).rejects.toMatchObject({ reason: 'unauthorized' });
    await waitForImmediate();
    const upstream = rig.pendingOpens[1]!.complete('modern');
    expect((await bob).upstream).toBe(upstream);
  });

  test('a server that begins to keep sessions is believed', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    (await rig.leaseUser(createUserServer(), createHolder('ann'))).release();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const fresh = await rig.leaseUser(createUserServer(), createHolder('ann'), { forceNew: true });
    expect(fresh.upstream).toBe(rig.upstreams[1]);
    expect(rig.upstreams[0]!.closeCount).toBe(1);
    expect((await rig.leaseUser(createUserServer(), createHolder('bob'))).upstream).not.toBe(fresh.upstream);
  });

  test('idle ones close, and the number is capped', async () => {
    const rig = createConnectionsRig({ maxTotal: 3 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const at = (path: string) =>
      createHolder('ann', { target: createRemoteTarget(`https://one.example/${path}`) });
    const held = await rig.leaseUser(createUserServer(), at('0'));
    for (const path of ['1', '2', '3']) (await rig.leaseUser(createUserServer(), at(path))).release();
    expect(rig.manager.counts().stateless).toBe(3);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1, 0, 0]);
    await rig.clock.advance(15 * 60_000 + 30_000);
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 1, 1, 1]);
    held.release();
    rig.manager.update([createUserServer('own', '2')]);
    expect(rig.upstreams[0]!.closeCount).toBe(1);
    expect(rig.manager.counts().stateless).toBe(0);
  });

  test('with all in use a further one serves its caller alone', async () => {
    const rig = createConnectionsRig({ maxTotal: 2 });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
    const at = (path: string) =>
      createHolder('ann', { target: createRemoteTarget(`https://one.example/${path}`) });
    const held = [
      await rig.leaseUser(createUserServer(), at('0')),
      await rig.leaseUser(createUserServer(), at('1')),
    ];
    const extra = await rig.leaseUser(createUserServer(), at('2'));
    expect(rig.manager.counts().stateless).toBe(2);
    extra.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0, 1]);
    expect(held).toHaveLength(2);
  });

  test('a definition that changes while it opens is kept for nobody', async () => {
    // Changed, or taken back altogether.
    for (const next of [[createUserServer('own', '2')], []]) {
      const rig = createConnectionsRig();
      rig.manager.update([createUserServer('own', '1')]);
      const waited = rig.leaseUser(createUserServer('own', '1'), createHolder('ann'));
      await waitForImmediate();
      rig.manager.update(next);
      const late = rig.pendingOpens[0]!.complete('modern');
      (await waited).release();
      expect(late.closeCount).toBe(1);
      expect(rig.manager.counts().stateless).toBe(0);
    }
  });
});
