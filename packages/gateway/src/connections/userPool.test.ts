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

describe('the user pool', () => {
  test('ten viewers of one server with one key have ten sessions', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const server = createUserServer('stored', '1', { auth: 'static', source: 'user' });
    const users = Array.from({ length: 10 }, (_, i) => createHolder(`user ${i}`, { binding: 'the one key' }));
    const leases = await Promise.all(users.map((user) => rig.leaseUser(server, user)));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(10);
    expect(rig.pendingOpens.map(({ options }) => options.owner).sort()).toEqual(
      users.map(({ principal }) => principal).sort(),
    );
    for (const [i, user] of users.entries()) {
      expect((await rig.leaseUser(server, user)).upstream).toBe(leases[i]!.upstream);
    }
    expect(rig.manager.counts().user).toBe(10);
  });

  test('names that a concatenated key would mix up stay apart', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const pendingLeases = [
      rig.leaseUser(createUserServer('a'), createHolder('b","c', { binding: 'd' })),
      rig.leaseUser(createUserServer('a'), createHolder('b', { binding: 'c","d' })),
      rig.leaseUser(createUserServer('a","b'), createHolder('c', { binding: 'd' })),
      rig.leaseUser({ ...createUserServer('a'), tenant: 'other' }, createHolder('b', { binding: 'c","d' })),
    ];
    const leases = await Promise.all(pendingLeases);
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(4);
  });

  test("calls of one user at once share that user's session", async () => {
    const rig = createConnectionsRig();
    const pendingLeases = Array.from({ length: 5 }, () =>
      rig.leaseUser(createUserServer(), createHolder('ann')),
    );
    await waitForImmediate();
    expect(rig.pendingOpens).toHaveLength(1);
    const upstream = rig.pendingOpens[0]!.complete('legacy');
    for (const lease of await Promise.all(pendingLeases)) expect(lease.upstream).toBe(upstream);
  });

  test('a new grant never meets the session of the old one', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const old = await rig.leaseUser(createUserServer(), createHolder('ann', { binding: 'old' }));
    const bystander = await rig.leaseUser(createUserServer('other'), createHolder('ann', { binding: 'old' }));
    bystander.release();
    const fresh = await rig.leaseUser(createUserServer(), createHolder('ann', { binding: 'new' }));
    expect(fresh.upstream).not.toBe(old.upstream);
    // The call on the old one is not cut; with it the old session ends.
    expect(rig.upstreams[0]!.closeCount).toBe(0);
    old.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0, 0]);
  });

  test('a session of the old grant that is still opening is kept for nobody', async () => {
    const rig = createConnectionsRig();
    const server = createUserServer();
    const target = createRemoteTarget(undefined, { type: 'sse' });
    const waited = rig.leaseUser(server, createHolder('ann', { binding: 'old', target }));
    const fresh = rig.leaseUser(server, createHolder('ann', { binding: 'new', target }));
    await waitForImmediate();
    const [oldOne, newOne] = [rig.pendingOpens[0]!.complete(), rig.pendingOpens[1]!.complete()];
    (await waited).release();
    (await fresh).release();
    expect([oldOne.closeCount, newOne.closeCount]).toEqual([1, 0]);
    expect((await rig.leaseUser(server, createHolder('ann', { binding: 'new', target }))).upstream).toBe(
      newOne,
    );
  });

  test('an old definition serves who borrowed it and nobody else', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    // Also before anybody said that it changed.
    const [before, after] = [
      await rig.leaseUser(createUserServer('early', '1'), createHolder('ann')),
      await rig.leaseUser(createUserServer('early', '2'), createHolder('ann')),
    ];
    expect(after.upstream).not.toBe(before.upstream);
    rig.upstreams.length = 0;
    rig.manager.update([createUserServer('own', '1')]);
    const call = await rig.leaseUser(createUserServer('own', '1'), createHolder('ann'));
    rig.manager.update([createUserServer('own', '2')]);
    expect(rig.upstreams[0]!.closeCount).toBe(0);
    const fresh = await rig.leaseUser(createUserServer('own', '2'), createHolder('ann'));
    expect(fresh.upstream).not.toBe(call.upstream);
    call.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
    const late = await rig.leaseUser(createUserServer('own', '1'), createHolder('bob'));
    late.release();
    expect(rig.upstreams[2]!.closeCount).toBe(1);
  });

  test('a session that ended is opened anew for its user', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const target = stdioTarget;
    const [ann, bob] = [createHolder('ann', { target }), createHolder('bob', { target })];
    const first = await rig.leaseUser(createUserServer(), ann);
    const others = await rig.leaseUser(createUserServer(), bob);
    rig.upstreams[0]!.dropConnection();
    first.release(new UpstreamError('reset'));
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
    expect((await rig.leaseUser(createUserServer(), ann)).upstream).toBe(rig.upstreams[2]);
    expect((await rig.leaseUser(createUserServer(), bob)).upstream).toBe(others.upstream);
  });

  test('a session the server forgot is not used again', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    for (const reason of ['session_lost', 'ended'] as const) {
      const lease = await rig.leaseUser(createUserServer(), createHolder('ann'));
      lease.release(new UpstreamError(reason));
      expect(rig.upstreams.at(-1)!.closeCount).toBe(1);
    }
    await rig.leaseUser(createUserServer(), createHolder('ann'));
    expect(rig.upstreams).toHaveLength(3);
  });

  test('a session outlives a call that failed on it', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    for (const reason of ['timeout', 'rpc_error', 'stream_broken', 'too_large', 'unauthorized'] as const) {
      const lease = await rig.leaseUser(createUserServer(), createHolder('ann'));
      lease.release(new UpstreamError(reason));
    }
    expect(rig.pendingOpens).toHaveLength(1);
    expect(rig.upstreams[0]!.closeCount).toBe(0);
  });

  test('calls of one request share a connection, then it is gone', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const server = createUserServer('body', '1', { requestScoped: true });
    const [one, two] = [createHolder('ann', { requestKey: 'r1' }), createHolder('ann', { requestKey: 'r2' })];
    const [first, same, other] = await Promise.all([
      rig.leaseUser(server, one),
      rig.leaseUser(server, one),
      rig.leaseUser(server, two),
    ]);
    expect(same.upstream).toBe(first.upstream);
    expect(other.upstream).not.toBe(first.upstream);
    first.release();
    const inARow = await rig.leaseUser(server, one);
    expect(inARow.upstream).toBe(first.upstream);
    same.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([0, 0]);
    inARow.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0]);
    expect((await rig.leaseUser(server, one)).upstream).toBe(rig.upstreams[2]);
    other.release();
    expect(rig.upstreams[1]!.closeCount).toBe(1);
  });

  test('without a request to belong to it serves one call', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    const server = createUserServer('body', '1', { requestScoped: true });
    const leases = [
      await rig.leaseUser(server, createHolder('ann')),
      await rig.leaseUser(server, createHolder('ann')),
      await rig.leaseUser(server, createHolder('ann', { requestKey: '1' })),
    ];
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(3);
    for (const lease of leases) lease.release();
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 1, 1]);
  });

  test('one that opens after its request ended is closed at once', async () => {
    const rig = createConnectionsRig();
    const server = createUserServer('body', '1', { requestScoped: true });
    const ending = new AbortController();
    const pendingLease = rig.leaseUser(server, createHolder('ann', { requestKey: 'r1' }), {
      signal: ending.signal,
    });
    await waitForImmediate();
    ending.abort();
    await expect(pendingLease).rejects.toThrow();
    const late = rig.pendingOpens[0]!.complete('legacy');
    await waitForImmediate();
    expect(late.closeCount).toBe(1);
    expect(rig.manager.counts().user).toBe(0);
  });

  test("it ends one user's session at one server", async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    (await rig.leaseUser(createUserServer('one'), createHolder('ann'))).release();
    (await rig.leaseUser(createUserServer('two'), createHolder('ann'))).release();
    const call = await rig.leaseUser(createUserServer('one'), createHolder('bob'));
    await rig.manager.dropForServer('one', 'ann');
    expect(rig.upstreams.map(({ closeCount }) => closeCount)).toEqual([1, 0, 0]);
    // It does not wait for a call under way, and does not cut it.
    await rig.manager.dropForServer('one', 'bob');
    expect(rig.upstreams[2]!.closeCount).toBe(0);
    call.release();
    expect(rig.upstreams[2]!.closeCount).toBe(1);
  });

  test("a logout ends all sessions of that user, and nobody else's", async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete('legacy');
    for (const server of ['one', 'two']) {
      for (const who of ['ann', 'bob'])
        (await rig.leaseUser(createUserServer(server), createHolder(who))).release();
    }
    await rig.manager.dropForPrincipal('ann');
    expect(rig.upstreams.map(({ closeCount, owner }) => [owner, closeCount])).toEqual([
      ['ann', 1],
      ['bob', 0],
      ['ann', 1],
      ['bob', 0],
    ]);
    expect(rig.manager.counts().user).toBe(2);
  });

  test('a session that opens after the logout is kept for nobody', async () => {
    const rig = createConnectionsRig();
    const waited = rig.leaseUser(createUserServer(), createHolder('ann'));
    await waitForImmediate();
    await rig.manager.dropForPrincipal('ann');
    const late = rig.pendingOpens[0]!.complete('legacy');
    (await waited).release();
    expect(late.closeCount).toBe(1);
  });
});
