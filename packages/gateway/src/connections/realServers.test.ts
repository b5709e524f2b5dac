import { systemClock, systemRandom } from '@behalf/kernel';
import { type ScriptedOptions } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createChannelRig, scriptedTarget } from '../../test/channelRig.ts';
import { createAppServer, createHolder, createUserServer } from '../../test/connectionsRig.ts';
import { callHttpTool, createHttpRig, stopHttpRigs } from '../../test/httpRig.ts';
import { openHttpUpstream } from '../upstream/http/negotiate.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { createConnectionManager } from './connectionManager.ts';

afterEach(stopHttpRigs);

/** Both users call in turns; each request is looked at where it arrives. */
async function interleave(era: 'legacy' | 'modern') {
  const { server, parts, eraVerdicts, target } = await createHttpRig({ era, tools: [{ name: 'echo' }] });
  const manager = createConnectionManager({
    clock: systemClock,
    random: systemRandom,
    open: (to, options) => openHttpUpstream(to as RemoteTarget, options, parts, eraVerdicts),
  });
  const { signal } = new AbortController();
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const who = i % 2 ? 'ann' : 'bob';
      const headers = { authorization: `Bearer ${who}` };
      const mine = createHolder(who, { binding: 'the same', target: { ...target, headers } });
      const lease = await manager.user.lease(createUserServer(), mine, { signal });
      await callHttpTool(lease.upstream, 'echo', { who }, { headers });
      lease.release();
    }),
  );
  const calls = server.received('tools/call').map(({ headers, message }) => ({
    said: (message?.params?.arguments as { who: string }).who,
    bearer: headers.authorization,
    session: headers['mcp-session-id'] as string | undefined,
  }));
  expect(calls).toHaveLength(200);
  for (const { said, bearer } of calls) expect(bearer).toBe(`Bearer ${said}`);
  return { server, manager, calls };
}

describe('pools before real servers', () => {
  test('two users in turns keep their own session and credential', async () => {
    const { server, manager, calls } = await interleave('legacy');
    const sessionsOf = (who: string) =>
      new Set(calls.flatMap(({ said, session }) => (said === who ? session : [])));
    const [ann, bob] = [sessionsOf('ann'), sessionsOf('bob')];
    expect([ann.size, bob.size]).toEqual([1, 1]);
    expect([...ann][0]).not.toBe([...bob][0]);
    expect(manager.counts()).toMatchObject({ user: 2, stateless: 0 });
    // Whoever opens a session ends it at the server.
    await manager.close();
    expect(server.sessions.size).toBe(0);
  });

  test('two users in turns share what holds nothing of either', async () => {
    const { manager, calls } = await interleave('modern');
    expect(calls.every(({ session }) => session === undefined)).toBe(true);
    expect(manager.counts()).toMatchObject({ user: 0, stateless: 1 });
    await manager.close();
  });
});

/** Pools before a server that treats one user badly, who tries three times. */
async function afterThree(respond: ScriptedOptions['respond'], attempt: 'open' | 'call') {
  const { parts, eraVerdicts, target } = await createHttpRig({
    era: 'legacy',
    tools: [{ name: 'echo' }],
    ...(respond && { respond }),
  });
  const manager = createConnectionManager({
    clock: systemClock,
    random: systemRandom,
    open: (to, options) => openHttpUpstream(to as RemoteTarget, options, parts, eraVerdicts),
  });
  const { signal } = new AbortController();
  const ask = async (who: string) => {
    const headers = { authorization: who };
    const mine = createHolder(who, { target: { ...target, headers } });
    const lease = await manager.user.lease(createUserServer(), mine, { signal });
    try {
      await callHttpTool(lease.upstream, 'echo', { who }, { headers });
      lease.release();
    } catch (error) {
      lease.release(error);
      throw error;
    }
  };
  const reason = attempt === 'open' ? 'connect_failed' : 'reset';
  for (let i = 0; i < 3; i += 1) await expect(ask('junk')).rejects.toMatchObject({ reason });
  await ask('good');
  expect(manager.counts().breakersOpen).toBe(0);
  await manager.close();
}

describe('what one user provokes', () => {
  test('a 500 to one key parks the server for nobody', () =>
    afterThree(({ headers }) => (headers.authorization === 'junk' ? { status: 500 } : undefined), 'open'));

  test('a call that the server hangs up on parks it for nobody', () =>
    afterThree(
      ({ headers, message }) =>
        headers.authorization === 'junk' && message?.method === 'tools/call' ? 'reset' : undefined,
      'call',
    ));

  test('a shared child process that dies at each start is parked', async () => {
    const rig = createChannelRig();
    const manager = createConnectionManager({
      clock: systemClock,
      random: systemRandom,
      open: (to, options) => rig.open(to, { ...options, era: 'legacy' }),
    });
    const dying = { ...scriptedTarget(), args: ['-e', 'process.exit(1)'] };
    const { signal } = new AbortController();
    const ask = () => manager.shared.lease(createAppServer('dying', '1', dying), { signal });
    for (let i = 0; i < 3; i += 1) await expect(ask()).rejects.toMatchObject({ reason: 'connect_failed' });
    await expect(ask()).rejects.toMatchObject({ reason: 'breaker_open' });
    await manager.close();
    await rig.closeAll();
  });
});
