import { describe, expect, test } from '@jest/globals';
import {
  createAppServer,
  createConnectionsRig,
  createHolder,
  createUserServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const MINUTE_MS = 60_000;
const [app, own] = [createAppServer(), createUserServer()];

async function failShared(rig: ConnectionsRig, reason: UpstreamReason): Promise<void> {
  rig.onOpen = (pendingOpen) => pendingOpen.fail(reason);
  await expect(rig.leaseShared(app, { bypassesBreaker: true })).rejects.toMatchObject({ reason });
}

async function failOwn(rig: ConnectionsRig, who: string, reason: UpstreamReason): Promise<void> {
  rig.onOpen = (pendingOpen) => pendingOpen.fail(reason);
  await expect(rig.leaseUser(own, createHolder(who))).rejects.toMatchObject({ reason });
}

describe('since when a server cannot be reached', () => {
  test('the first failure counts, until one is opened again', async () => {
    const rig = createConnectionsRig();
    const getState = () => rig.manager.state(app, 'ann');
    const startedAt = rig.clock.now();
    await failShared(rig, 'upstream_5xx');
    // So far nothing speaks against the road there; the run of failures goes on all the same.
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 3; i += 1) await failShared(rig, 'connect_timeout');
    expect(getState()).toMatchObject({ code: 'MCP_BREAKER_OPEN', since: startedAt });
    await rig.clock.advance(10 * MINUTE_MS);
    expect(getState()).toMatchObject({ code: 'MCP_BREAKER_OPEN', since: startedAt });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    (await rig.leaseShared(app, { bypassesBreaker: true, forceNew: true })).release();
    expect(getState()).toEqual({ connection: 'connected' });
    for (const upstream of rig.upstreams) upstream.dropConnection();
    expect(getState()).toEqual({ connection: 'disconnected' });
    await rig.clock.advance(MINUTE_MS);
    await failShared(rig, 'connect_timeout');
    expect(getState()).toMatchObject({ code: 'MCP_TIMEOUT', since: rig.clock.now() });
  });

  test('it is told of a breaker that opened while connections stood', async () => {
    const rig = createConnectionsRig();
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    const lost = async () => (await rig.leaseShared(app)).release(new UpstreamError('ended'));
    await lost();
    const startedAt = rig.clock.now();
    await rig.clock.advance(MINUTE_MS);
    // A handshake that succeeds ends the run.
    await lost();
    expect(rig.manager.state(app, 'ann').since).toBeUndefined();
    rig.onOpen = (pendingOpen) => pendingOpen.fail('connect_timeout');
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 2; i += 1) await expect(rig.leaseShared(app)).rejects.toThrow();
    const { code, since } = rig.manager.state(app, 'ann');
    expect([code, since]).toEqual(['MCP_BREAKER_OPEN', startedAt + MINUTE_MS]);
  });

  test('each user has their own failures, and a new grant a fresh start', async () => {
    const rig = createConnectionsRig();
    const getState = (who: string) => rig.manager.state(own, who);
    const startedAt = rig.clock.now();
    await failOwn(rig, 'ann', 'unauthorized');
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 2; i += 1) await failOwn(rig, 'ann', 'unauthorized');
    expect(getState('ann')).toMatchObject({ code: 'MCP_CREDENTIAL_REJECTED', since: startedAt });
    expect(getState('ann').retryAt).toBeDefined();
    expect(getState('bob')).toEqual({ connection: 'disconnected' });
    rig.onOpen = (pendingOpen) => void pendingOpen.complete();
    (await rig.leaseUser(own, createHolder('ann', { binding: 'another grant' }))).release();
    expect(getState('ann')).toEqual({ connection: 'connected' });
  });
});
