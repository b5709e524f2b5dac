import { describe, expect, test } from '@jest/globals';
import { connectionsRig, holder, remote, stdio, turn, userServer } from '../../test/connectionsRig.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const users = (count: number) => Array.from({ length: count }, (_, i) => holder(`user ${i}`));

describe('servers that keep no session', () => {
  test('one opening serves all users, at once and later', async () => {
    const rig = connectionsRig();
    const pendingLeases = users(100).map((user) => rig.user(userServer(), user));
    await turn();
    expect(rig.openings).toHaveLength(1);
    const upstream = rig.openings[0]!.land('modern');
    for (const lease of await Promise.all(pendingLeases)) {
      expect(lease.upstream).toBe(upstream);
      lease.release();
    }
    for (const user of users(200)) (await rig.user(userServer(), user)).release();
    expect(rig.openings).toHaveLength(1);
    expect(rig.manager.counts()).toEqual({ shared: 0, user: 0, stateless: 1, breakersOpen: 0 });
    expect(upstream.closed).toBe(0);
  });

  test("a user's failures and logout leave it to the others", async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    const call = await rig.user(userServer(), holder('ann'));
    call.release(new UpstreamError('ended'));
    await rig.manager.dropForPrincipal('ann');
    await rig.manager.dropForServer('own', 'ann');
    expect((await rig.user(userServer(), holder('bob'))).upstream).toBe(call.upstream);
    expect(rig.upstreams[0]!.closed).toBe(0);
  });

  test('two that open at once leave one, and the other is closed', async () => {
    const rig = connectionsRig();
    const first = rig.user(userServer(), holder('ann'));
    await turn();
    const second = rig.user(userServer(), holder('bob'));
    // Nobody waits long for somebody else's opening.
    await rig.clock.advance(2_000);
    expect(rig.openings).toHaveLength(2);
    const retained = rig.openings[1]!.land('modern');
    expect((await second).upstream).toBe(retained);
    const surplus = rig.openings[0]!.land('modern');
    expect((await first).upstream).toBe(retained);
    expect([retained.closed, surplus.closed]).toEqual([0, 1]);
  });

  test('another address, tier, proxy or revision has its own', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    const targets = [
      remote(),
      remote('https://one.example/other'),
      remote(undefined, { audience: 'user-server' }),
      remote(undefined, { proxy: 'http://proxy.example' }),
    ];
    const leases = [];
    for (const target of targets) leases.push(await rig.user(userServer(), holder('ann', { target })));
    leases.push(await rig.user(userServer('own', '2'), holder('ann')));
    leases.push(await rig.user(userServer('else'), holder('ann')));
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(6);
  });

  test('whatever is opened with a user inside stays that user’s, though it claims to keep no session', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    const targets = [
      stdio,
      remote(undefined, { type: 'websocket' }),
      remote(undefined, { type: 'sse' }),
    ] as const;
    for (const target of targets) {
      const server = userServer(target.type);
      const ann = await rig.user(server, holder('ann', { target, binding: 'equal' }));
      const bob = await rig.user(server, holder('bob', { target, binding: 'equal' }));
      expect(bob.upstream).not.toBe(ann.upstream);
    }
    expect(rig.manager.counts()).toMatchObject({ user: 6, stateless: 0 });
  });

  test('what the server told whoever came first is told to nobody', async () => {
    const rig = connectionsRig();
    const pendingLeases = [holder('ann'), holder('bob')].map((who) => rig.user(userServer(), who));
    await turn();
    const upstream = rig.openings[0]!.land('modern', { instructions: 'Ann’s key is k1', name: 'same' });
    const [ann, bob] = await Promise.all(pendingLeases);
    expect(bob!.upstream).toBe(ann!.upstream);
    expect(ann!.upstream.claims).toEqual({ ...upstream.claims, instructions: undefined });
    // A session of one's own may say what it likes to its user.
    rig.answer = (opening) => void opening.land('legacy', { instructions: 'mine' });
    const own = await rig.user(userServer('else'), holder('ann'));
    expect(own.upstream.claims.instructions).toBe('mine');
    await rig.manager.close();
    expect(upstream.closed).toBe(1);
  });

  test('after one user found sessions, each opens their own', async () => {
    const rig = connectionsRig();
    const pendingLeases = users(5).map((user) => rig.user(userServer(), user));
    await turn();
    expect(rig.openings).toHaveLength(1);
    rig.openings[0]!.land('legacy');
    await turn();
    expect(rig.openings).toHaveLength(5);
    for (const opening of rig.openings.slice(1)) opening.land('legacy');
    const leases = await Promise.all(pendingLeases);
    expect(new Set(leases.map(({ upstream }) => upstream)).size).toBe(5);
    // From now on nobody waits for another.
    const more = [rig.user(userServer(), holder('x')), rig.user(userServer(), holder('y'))];
    await turn();
    expect(rig.openings).toHaveLength(7);
    for (const opening of rig.openings.slice(5)) opening.land('legacy');
    await Promise.all(more);
  });

  test('one user’s failure to open is not the others’', async () => {
    const rig = connectionsRig();
    const [ann, bob] = [rig.user(userServer(), holder('ann')), rig.user(userServer(), holder('bob'))];
    await turn();
    rig.openings[0]!.refuse('unauthorized');
    await expect(ann).rejects.toMatchObject({ reason: 'unauthorized' });
    await turn();
    const upstream = rig.openings[1]!.land('modern');
    expect((await bob).upstream).toBe(upstream);
  });

  test('a server that begins to keep sessions is believed', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land('modern');
    (await rig.user(userServer(), holder('ann'))).release();
    rig.answer = (opening) => void opening.land('legacy');
    const fresh = await rig.user(userServer(), holder('ann'), { forceNew: true });
    expect(fresh.upstream).toBe(rig.upstreams[1]);
    expect(rig.upstreams[0]!.closed).toBe(1);
    expect((await rig.user(userServer(), holder('bob'))).upstream).not.toBe(fresh.upstream);
  });

  test('idle ones close, and the number is capped', async () => {
    const rig = connectionsRig({ maxTotal: 3 });
    rig.answer = (opening) => void opening.land('modern');
    const at = (path: string) => holder('ann', { target: remote(`https://one.example/${path}`) });
    const held = await rig.user(userServer(), at('0'));
    for (const path of ['1', '2', '3']) (await rig.user(userServer(), at(path))).release();
    expect(rig.manager.counts().stateless).toBe(3);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1, 0, 0]);
    await rig.clock.advance(15 * 60_000 + 30_000);
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 1, 1, 1]);
    held.release();
    rig.manager.update([userServer('own', '2')]);
    expect(rig.upstreams[0]!.closed).toBe(1);
    expect(rig.manager.counts().stateless).toBe(0);
  });

  test('with all in use a further one serves its caller alone', async () => {
    const rig = connectionsRig({ maxTotal: 2 });
    rig.answer = (opening) => void opening.land('modern');
    const at = (path: string) => holder('ann', { target: remote(`https://one.example/${path}`) });
    const held = [await rig.user(userServer(), at('0')), await rig.user(userServer(), at('1'))];
    const extra = await rig.user(userServer(), at('2'));
    expect(rig.manager.counts().stateless).toBe(2);
    extra.release();
    expect(rig.upstreams.map(({ closed }) => closed)).toEqual([0, 0, 1]);
    expect(held).toHaveLength(2);
  });

  test('a definition that changes while it opens is kept for nobody', async () => {
    // Changed, or taken back altogether.
    for (const next of [[userServer('own', '2')], []]) {
      const rig = connectionsRig();
      rig.manager.update([userServer('own', '1')]);
      const waited = rig.user(userServer('own', '1'), holder('ann'));
      await turn();
      rig.manager.update(next);
      const late = rig.openings[0]!.land('modern');
      (await waited).release();
      expect(late.closed).toBe(1);
      expect(rig.manager.counts().stateless).toBe(0);
    }
  });
});
