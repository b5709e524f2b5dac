import { describe, expect, test } from '@jest/globals';
import { connectionsRig, holder, remote, stdio, turn, userServer } from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

describe('the user pool', () => {
  test('ten viewers of one server with one key have ten sessions', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const server = userServer('stored', '1', { auth: 'static', source: 'user' });
    const users = Array.from({ length: 10 }, (_, i) => holder(`user ${i}`, { binding: 'the one key' }));
    const leases = await Promise.all(users.map((user) => rig.user(server, user)));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(10);
    expect(rig.openings.map(({ options }) => options.owner).sort()).toEqual(
      users.map(({ principal }) => principal).sort(),
    );
    for (const [i, user] of users.entries()) {
      expect((await rig.user(server, user)).upstream).toBe(leases[i]!.upstream);
    }
    expect(rig.manager.counts().user).toBe(10);
  });

  test('names that a concatenated key would mix up stay apart', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const pendingLeases = [
      rig.user(userServer('a'), holder('b","c', { binding: 'd' })),
      rig.user(userServer('a'), holder('b', { binding: 'c","d' })),
      rig.user(userServer('a","b'), holder('c', { binding: 'd' })),
      rig.user({ ...userServer('a'), tenant: 'other' }, holder('b', { binding: 'c","d' })),
    ];
    const leases = await Promise.all(pendingLeases);
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(4);
  });

  test("calls of one user at once share that user's session", async () => {
    const rig = connectionsRig();
    const pendingLeases = Array.from({ length: 5 }, () => rig.user(userServer(), holder('ann')));
    await turn();
    expect(rig.openings).toHaveLength(1);
    const upstream = rig.openings[0]!.land('legacy');
    for (const lease of await Promise.all(pendingLeases)) expect(lease.upstream).toBe(upstream);
  });

  test('a new grant never meets the session of the old one', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const old = await rig.user(userServer(), holder('ann', { binding: 'old' }));
    const bystander = await rig.user(userServer('other'), holder('ann', { binding: 'old' }));
    bystander.release();
    const fresh = await rig.user(userServer(), holder('ann', { binding: 'new' }));
    expect(fresh.upstream).not.toBe(old.upstream);
    // The call on the old one is not cut; with it the old session ends.
    expect(rig.upstreams[0]!.closed).toBe(0);
    old.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0, 0]);
  });

  test('a session of the old grant that is still opening is kept for nobody', async () => {
    const rig = connectionsRig();
    const server = userServer();
    const target = remote(undefined, { type: 'sse' });
    const waited = rig.user(server, holder('ann', { binding: 'old', target }));
    const fresh = rig.user(server, holder('ann', { binding: 'new', target }));
    await turn();
    const [oldOne, newOne] = [rig.openings[0]!.land(), rig.openings[1]!.land()];
    (await waited).release();
    (await fresh).release();
    expect([oldOne.closed, newOne.closed]).toEqual([1, 0]);
    expect((await rig.user(server, holder('ann', { binding: 'new', target }))).upstream).toBe(newOne);
  });

  test('an old definition serves who borrowed it and nobody else', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    // Also before anybody said that it changed.
    const [before, after] = [
      await rig.user(userServer('early', '1'), holder('ann')),
      await rig.user(userServer('early', '2'), holder('ann')),
    ];
    expect(after.upstream).not.toBe(before.upstream);
    rig.upstreams.length = 0;
    rig.manager.update([userServer('own', '1')]);
    const call = await rig.user(userServer('own', '1'), holder('ann'));
    rig.manager.update([userServer('own', '2')]);
    expect(rig.upstreams[0]!.closed).toBe(0);
    const fresh = await rig.user(userServer('own', '2'), holder('ann'));
    expect(fresh.upstream).not.toBe(call.upstream);
    call.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
    const late = await rig.user(userServer('own', '1'), holder('bob'));
    late.release();
    expect(rig.upstreams[2]!.closed).toBe(1);
  });

  test('a session that ended is opened anew for its user', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const target = stdio;
    const [ann, bob] = [holder('ann', { target }), holder('bob', { target })];
    const first = await rig.user(userServer(), ann);
    const others = await rig.user(userServer(), bob);
    rig.upstreams[0]!.drop();
    first.release(new UpstreamError('reset'));
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
    expect((await rig.user(userServer(), ann)).upstream).toBe(rig.upstreams[2]);
    expect((await rig.user(userServer(), bob)).upstream).toBe(others.upstream);
  });

  test('a session the server forgot is not used again', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    for (const reason of ['session_lost', 'ended'] as const) {
      const lease = await rig.user(userServer(), holder('ann'));
      lease.release(new UpstreamError(reason));
      expect(rig.upstreams.at(-1)!.closed).toBe(1);
    }
    await rig.user(userServer(), holder('ann'));
    expect(rig.upstreams).toHaveLength(3);
  });

  test('a session outlives a call that failed on it', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    for (const reason of ['timeout', 'rpc_error', 'stream_broken', 'too_large', 'unauthorized'] as const) {
      const lease = await rig.user(userServer(), holder('ann'));
      lease.release(new UpstreamError(reason));
    }
    expect(rig.openings).toHaveLength(1);
    expect(rig.upstreams[0]!.closed).toBe(0);
  });

  test('calls of one request share a connection, then it is gone', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const server = userServer('body', '1', { requestScoped: true });
    const [one, two] = [holder('ann', { requestKey: 'r1' }), holder('ann', { requestKey: 'r2' })];
    const [first, same, other] = await Promise.all([
      rig.user(server, one),
      rig.user(server, one),
      rig.user(server, two),
    ]);
    expect(same.upstream).toBe(first.upstream);
    expect(other.upstream).not.toBe(first.upstream);
    first.release();
    const inARow = await rig.user(server, one);
    expect(inARow.upstream).toBe(first.upstream);
    same.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0]);
    inARow.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0]);
    expect((await rig.user(server, one)).upstream).toBe(rig.upstreams[2]);
    other.release();
    expect(rig.upstreams[1]!.closed).toBe(1);
  });

  test('without a request to belong to it serves one call', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    const server = userServer('body', '1', { requestScoped: true });
    const leases = [
      await rig.user(server, holder('ann')),
      await rig.user(server, holder('ann')),
      await rig.user(server, holder('ann', { requestKey: '1' })),
    ];
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(3);
    for (const lease of leases) lease.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 1, 1]);
  });

  test('one that opens after its request ended is closed at once', async () => {
    const rig = connectionsRig();
    const server = userServer('body', '1', { requestScoped: true });
    const ending = new AbortController();
    const pendingLease = rig.user(server, holder('ann', { requestKey: 'r1' }), { signal: ending.signal });
    await turn();
    ending.abort();
    await expect(pendingLease).rejects.toThrow();
    const late = rig.openings[0]!.land('legacy');
    await turn();
    expect(late.closed).toBe(1);
    expect(rig.manager.counts().user).toBe(0);
  });

  test("it ends one user's session at one server", async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    (await rig.user(userServer('one'), holder('ann'))).release();
    (await rig.user(userServer('two'), holder('ann'))).release();
    const call = await rig.user(userServer('one'), holder('bob'));
    await rig.manager.dropForServer('one', 'ann');
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([1, 0, 0]);
    // It does not wait for a call under way, and does not cut it.
    await rig.manager.dropForServer('one', 'bob');
    expect(rig.upstreams[2]!.closed).toBe(0);
    call.release();
    expect(rig.upstreams[2]!.closed).toBe(1);
  });

  test("a logout ends all sessions of that user, and nobody else's", async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('legacy');
    for (const server of ['one', 'two']) {
      for (const who of ['ann', 'bob']) (await rig.user(userServer(server), holder(who))).release();
    }
    await rig.manager.dropForPrincipal('ann');
    expect(rig.upstreams.map(({ closed, owner }) => [owner, closed])).toEqual([
      ['ann', 1],
      ['bob', 0],
      ['ann', 1],
      ['bob', 0],
    ]);
    expect(rig.manager.counts().user).toBe(2);
  });

  test('a session that opens after the logout is kept for nobody', async () => {
    const rig = connectionsRig();
    const waited = rig.user(userServer(), holder('ann'));
    await turn();
    await rig.manager.dropForPrincipal('ann');
    const late = rig.openings[0]!.land('legacy');
    (await waited).release();
    expect(late.closed).toBe(1);
  });
});
