import { createFakeClock, eventually, scriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  sendRequest,
  createChannelRig,
  remoteChannelTarget,
  scriptedTarget,
  type ChannelRig,
} from '../../test/channelRig.ts';
import { startSseServer } from '../../test/sseServer.ts';
import { startWebSocketServer } from '../../test/webSocketServer.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
function createRig(...args: Parameters<typeof createChannelRig>): ChannelRig {
  const rig = createChannelRig(...args);
  ends.unshift(() => rig.closeAll());
  return rig;
}

async function startAll() {
  const servers = await Promise.all([
    scriptedHttpServer({ era: 'legacy', tools: [] }),
    startSseServer(),
    startWebSocketServer(),
  ]);
  ends.push(...servers.map((server) => () => server.close()));
  const [http, sse, socket] = servers;
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  const targets = [
    scriptedTarget(),
    remoteChannelTarget('streamable-http', http.url),
    remoteChannelTarget('sse', sse.url),
    remoteChannelTarget('websocket', socket.url),
  ];
  return { ports, targets, http, sse, socket };
}

describe('opening an upstream', () => {
  test('speaks over what the target says, and answers alike', async () => {
    const { ports, targets } = await startAll();
    const rig = createRig({ ports });
    for (const target of targets) {
      const upstream = await rig.open(target, { era: 'auto' });
      expect(upstream.claims).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
      expect(await sendRequest(upstream, 'tools/list')).toEqual(expect.any(Object));
      let ended = 0;
      upstream.onClose(() => (ended += 1));
      await upstream.close();
      await eventually('the end', () => ended === 1);
      await expect(sendRequest(upstream, 'tools/list')).rejects.toMatchObject({
        reason: 'ended',
        outcome: 'unreachable',
      });
    }
  });

  test('one that was given up before it began asks nobody', async () => {
    const { ports, targets, http, sse, socket } = await startAll();
    const rig = createRig({ ports });
    const reason = new Error('gave up');
    for (const target of targets)
      await expect(rig.open(target, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect([http.requests, sse.requests, socket.upgrades, rig.stderr]).toEqual([[], [], [], []]);
  });

  test('a server that never answers is given up when the time is over', async () => {
    const http = await scriptedHttpServer({ era: 'legacy', respond: () => 'hang' });
    ends.push(() => http.close());
    const clock = createFakeClock();
    const rig = createRig({ clock, ports: [Number(new URL(http.url).port)] });
    const opening = rig.open(remoteChannelTarget('streamable-http', http.url), {
      initTimeoutMs: 1_000,
      era: 'auto',
    });
    let ended = false;
    const refused = opening.then(
      () => undefined,
      (error: unknown) => ((ended = true), error),
    );
    await eventually('the first request', () => http.requests.length === 1);
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(await refused).toMatchObject({ reason: 'connect_timeout', outcome: 'unreachable' });
  });
});
