import { systemClock, systemRandom } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createCountingBearer, expectFreshTokens, type CountingBearer } from '../../test/bearerRig.ts';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createRemoteTarget,
  createUserServer,
} from '../../test/connectionsRig.ts';
import { callHttpTool, createHttpRig, requestOptions, stopHttpRigs } from '../../test/httpRig.ts';
import type { AppServer } from '../definitions/definition.ts';
import { openHttpUpstream } from '../upstream/http/negotiate.ts';
import type { RemoteTarget, SharedTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { createConnectionManager } from './connectionManager.ts';

afterEach(stopHttpRigs);

const { signal } = new AbortController();
const refusal = { code: 'OBO_REJECTED' };

async function before(era: 'legacy' | 'modern') {
  const rig = await createHttpRig({ era, tools: [{ name: 'echo' }] });
  const { parts, eraVerdicts, target } = rig;
  const manager = createConnectionManager({
    clock: systemClock,
    random: systemRandom,
    open: (to, options) => openHttpUpstream(to as RemoteTarget, options, parts, eraVerdicts),
  });
  const lease = (who: string, bearer: CountingBearer) =>
    manager.user.lease(createUserServer(), createHolder(who, { target: { ...target, bearer } }), { signal });
  async function call(who: string, bearer: CountingBearer): Promise<void> {
    const held = await lease(who, bearer);
    await callHttpTool(held.upstream, 'echo', { who }, { bearer });
    held.release();
  }
  return { ...rig, manager, lease, call };
}

describe('bearers of users', () => {
  for (const era of ['legacy', 'modern'] as const) {
    test(`1,000 calls of two users in turns: each carries its own user’s token (${era})`, async () => {
      const { server, manager, call } = await before(era);
      const bearers = {
        ann: createCountingBearer('ann'),
        bob: createCountingBearer('bob', { isDeferred: true }),
      };
      const users = ['ann', 'bob'] as const;
      // A hundred at once, so that every answer is late for somebody.
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(Array.from({ length: 100 }, (_, i) => call(users[i % 2]!, bearers[users[i % 2]!])));
      }
      const calls = server.received('tools/call');
      expect(calls).toHaveLength(1_000);
      for (const who of users) {
        const own = calls.filter(
          ({ message }) => (message!.params!['arguments'] as { who: string }).who === who,
        );
        expect(own).toHaveLength(500);
        expectFreshTokens(own, who);
      }
      expect(manager.counts()).toMatchObject(
        era === 'modern' ? { user: 0, stateless: 1 } : { user: 2, stateless: 0 },
      );
      await manager.close();
      // What ends a session is its own user's as well.
      const ends = server.requests.filter(({ verb }) => verb === 'DELETE');
      expect(ends.map(({ headers }) => headers.authorization?.replace(/\d+$/, '')).sort()).toEqual(
        era === 'modern' ? [] : ['Bearer ann', 'Bearer bob'],
      );
    }, 60_000);
  }

  test('openings for which there was no token count for nothing', async () => {
    const { server, manager, lease, call } = await before('legacy');
    const bearer = createCountingBearer('ann');
    bearer.failure = refusal;
    for (let i = 0; i < 5; i += 1) await expect(lease('ann', bearer)).rejects.toBe(refusal);
    expect(server.requests).toEqual([]);
    expect(manager.counts().breakersOpen).toBe(0);
    expect(manager.state(createUserServer(), 'ann').connection).toBe('disconnected');
    await call('bob', createCountingBearer('bob'));
    bearer.failure = undefined;
    await call('ann', bearer);
  });

  test('a use for which there was none proves nothing either', async () => {
    for (const reason of ['unauthorized', 'ended', 'connect_failed'] as const) {
      const rig = createConnectionsRig();
      rig.onOpen = (pendingOpen) => void pendingOpen.complete('modern');
      const use = async (failure: unknown) =>
        (await rig.leaseUser(createUserServer(), createHolder('ann'))).release(failure);
      await use(new UpstreamError(reason));
      await use(new UpstreamError(reason));
      for (let i = 0; i < 3; i += 1) await use(refusal);
      await use(new UpstreamError('token_timeout'));
      // Two failures are still two: the third one in a row closes the road.
      await use(new UpstreamError(reason));
      await expect(use(undefined)).rejects.toMatchObject({ reason: 'breaker_open' });
    }
  });

  test('nor does one that came too late, in an opening', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('token_timeout');
    for (let i = 0; i < 5; i += 1) {
      await expect(rig.leaseUser(createUserServer(), createHolder('ann'))).rejects.toMatchObject({
        reason: 'token_timeout',
      });
    }
    expect(rig.manager.counts().breakersOpen).toBe(0);
  });
});

describe('a shared connection', () => {
  test('has no place for a bearer, and refuses one', async () => {
    const rig = createConnectionsRig();
    const bearer = createCountingBearer();
    const target = { ...createRemoteTarget(), bearer };
    // The types are the promise: none of these compiles.
    // @ts-expect-error a shared target has no bearer
    const shared: SharedTarget = target;
    // @ts-expect-error nor has the target of an app server
    const server: AppServer = { ...createAppServer(), target };
    // @ts-expect-error nor is there a way to hand one in beside it
    const beside = () => rig.manager.shared.lease(createAppServer(), { signal, bearer });
    const holder = createHolder('ann', { target });
    // @ts-expect-error or in the place of a holder
    const third = () => rig.manager.shared.lease(createAppServer(), { signal }, holder);
    expect([shared, beside, third]).toHaveLength(3);
    await expect(rig.leaseShared(server)).rejects.toMatchObject({ reason: 'bearer_unsupported' });
    expect(rig.pendingOpens).toHaveLength(0);
    expect(bearer.tokenRequests).toBe(0);
  });

  test('keeps no bearer that a request brings after all', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [{ name: 'echo' }],
      getStream: true,
    });
    const upstream = await open();
    const bearer = createCountingBearer();
    await callHttpTool(upstream, 'echo', {}, { bearer });
    await upstream.request('ping', {}, requestOptions());
    await upstream.close();
    expect(server.requests.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([
      'Bearer t1',
    ]);
  });
});
