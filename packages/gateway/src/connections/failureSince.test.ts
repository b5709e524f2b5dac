import { describe, expect, test } from '@jest/globals';
import {
  appServer,
  connectionsRig,
  holder,
  userServer,
  type ConnectionsRig,
} from '../../test/connectionsRig.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';

const MINUTE_MS = 60_000;
const [app, own] = [appServer(), userServer()];

async function failShared(rig: ConnectionsRig, reason: UpstreamReason): Promise<void> {
  rig.answer = (opening) => opening.refuse(reason);
  await expect(rig.shared(app, { explicit: true })).rejects.toMatchObject({ reason });
}

async function failOwn(rig: ConnectionsRig, who: string, reason: UpstreamReason): Promise<void> {
  rig.answer = (opening) => opening.refuse(reason);
  await expect(rig.user(own, holder(who))).rejects.toMatchObject({ reason });
}

describe('since when a server cannot be reached', () => {
  test('the first failure counts, until one is opened again', async () => {
    const rig = connectionsRig();
    const getState = () => rig.manager.state(app, 'ann');
    const startedAt = rig.clock.now();
    await failShared(rig, 'upstream_5xx');
    // So far nothing speaks against the road there; the run of failures goes on all the same.
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 3; i += 1) await failShared(rig, 'connect_timeout');
    expect(getState()).toMatchObject({ code: 'MCP_BREAKER_OPEN', since: startedAt });
    await rig.clock.advance(10 * MINUTE_MS);
    expect(getState()).toMatchObject({ code: 'MCP_BREAKER_OPEN', since: startedAt });
    rig.answer = (opening) => void opening.land();
    (await rig.shared(app, { explicit: true, forceNew: true })).release();
    expect(getState()).toEqual({ connection: 'connected' });
    for (const upstream of rig.upstreams) upstream.drop();
    expect(getState()).toEqual({ connection: 'disconnected' });
    await rig.clock.advance(MINUTE_MS);
    await failShared(rig, 'connect_timeout');
    expect(getState()).toMatchObject({ code: 'MCP_TIMEOUT', since: rig.clock.now() });
  });

  test('it is told of a breaker that opened while connections stood', async () => {
    const rig = connectionsRig();
    rig.answer = (opening) => void opening.land();
    const lost = async () => (await rig.shared(app)).release(new UpstreamError('ended'));
    await lost();
    const startedAt = rig.clock.now();
    await rig.clock.advance(MINUTE_MS);
    // A handshake that succeeds ends the run.
    await lost();
    expect(rig.manager.state(app, 'ann').since).toBeUndefined();
    rig.answer = (opening) => opening.refuse('connect_timeout');
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 2; i += 1) await expect(rig.shared(app)).rejects.toThrow();
    const { code, since } = rig.manager.state(app, 'ann');
    expect([code, since]).toEqual(['MCP_BREAKER_OPEN', startedAt + MINUTE_MS]);
  });

  test('each user has their own failures, and a new grant a fresh start', async () => {
    const rig = connectionsRig();
    const getState = (who: string) => rig.manager.state(own, who);
    const startedAt = rig.clock.now();
    await failOwn(rig, 'ann', 'unauthorized');
    await rig.clock.advance(MINUTE_MS);
    for (let i = 0; i < 2; i += 1) await failOwn(rig, 'ann', 'unauthorized');
    expect(getState('ann')).toMatchObject({ code: 'MCP_CREDENTIAL_REJECTED', since: startedAt });
    expect(getState('ann').retryAt).toBeDefined();
    expect(getState('bob')).toEqual({ connection: 'disconnected' });
    rig.answer = (opening) => void opening.land();
    (await rig.user(own, holder('ann', { binding: 'another grant' }))).release();
    expect(getState('ann')).toEqual({ connection: 'connected' });
  });
});
