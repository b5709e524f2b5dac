import { once } from 'node:events';
import { connect } from 'node:tls';
import { createFakeClock, createTestNetwork, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  sendRequest,
  callChannelTool,
  createChannelRig,
  remoteChannelTarget,
  type ChannelRig,
} from '../../../test/channelRig.ts';
import { testCertificate } from '../../../../egress/test/certificate.ts';
import { startWebSocketServer, type ScriptedWebSocketServer } from '../../../test/webSocketServer.ts';
import type { JsonObject } from '../upstream.ts';

const open: { rig: ChannelRig; server: ScriptedWebSocketServer }[] = [];
afterEach(async () => {
  for (const { rig, server } of open.splice(0)) {
    await rig.closeAll();
    await server.close();
  }
});

async function start({
  protocol,
  ...over
}: Parameters<typeof createChannelRig>[0] & { protocol?: string | false } = {}) {
  const server = await startWebSocketServer(protocol === undefined ? {} : { protocol });
  const rig = createChannelRig({ ports: [server.port], ...over });
  open.push({ rig, server });
  return { server, rig, target: remoteChannelTarget('websocket', server.url) };
}

describe('a websocket upstream', () => {
  test('lists, calls, tells progress and is cancelled', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target, { era: 'auto' });
    expect(upstream.claims).toMatchObject({ era: 'legacy', name: 'socket' });
    expect(await sendRequest(upstream, 'tools/list')).toMatchObject({ tools: [{ name: 'echo' }] });
    server.respond = ({ id, method, params }, socket) => {
      const progress = {
        progressToken: (params as { _meta?: JsonObject } | undefined)?._meta?.['progressToken'],
        progress: 1,
      };
      if (method === 'tools/call') {
        socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: progress }));
        socket.send('no json');
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'ping-1', method: 'ping' }));
      }
      return id === undefined;
    };
    const received: JsonObject[] = [];
    await callChannelTool(
      upstream,
      'echo',
      { message: 'ä'.repeat(100_000) },
      { onProgress: (params) => received.push(params) },
    );
    expect(received).toMatchObject([{ progress: 1 }]);
    await eventually('the answer to the ping', () =>
      server.receivedMessages.some(({ id }) => id === 'ping-1'),
    );
    expect(server.receivedMessages.find(({ id }) => id === 'ping-1')).toEqual({
      jsonrpc: '2.0',
      id: 'ping-1',
      result: {},
    });

    server.respond = () => true;
    const controller = new AbortController();
    const waiting = callChannelTool(upstream, 'echo', {}, { signal: controller.signal });
    const request = await eventually(
      'the call',
      () => server.receivedMessages.filter(({ method }) => method === 'tools/call')[1],
    );
    controller.abort(new Error('gave up'));
    await expect(waiting).rejects.toThrow('gave up');
    const cancelled = await eventually('the cancellation', () =>
      server.receivedMessages.find(({ method }) => method === 'notifications/cancelled'),
    );
    expect(cancelled['params']).toMatchObject({ requestId: request['id'] });
  });

  test('the configured headers and the credential go with the upgrade', async () => {
    const { server, rig, target } = await start();
    const headers = { authorization: 'Bearer t0ken', 'x-team': 'blue' };
    await rig.open({ ...target, headers });
    expect(server.upgrades).toHaveLength(1);
    expect(server.upgrades[0]).toMatchObject({ ...headers, 'sec-websocket-protocol': 'mcp' });
    expect(server.upgrades[0]).not.toHaveProperty('sec-websocket-extensions');
  });

  test('over TLS, which the door out has spoken already', async () => {
    const server = await startWebSocketServer({ tls: true });
    const dialed: string[] = [];
    const rig = createChannelRig({
      network: {
        ...createTestNetwork([]),
        async connectTo({ url }) {
          dialed.push(url);
          const socket = connect({ port: server.port, host: '127.0.0.1', ca: testCertificate });
          await once(socket, 'secureConnect');
          return socket;
        },
      },
    });
    open.push({ rig, server });
    const upstream = await rig.open(
      remoteChannelTarget('websocket', server.url, { headers: { 'x-team': 'blue' } }),
    );
    expect(await sendRequest(upstream, 'tools/list')).toMatchObject({ tools: [{ name: 'echo' }] });
    expect(server.upgrades).toMatchObject([{ 'x-team': 'blue', host: `127.0.0.1:${server.port}` }]);
    expect(dialed).toEqual([server.url]);
  });

  test('a status instead of the upgrade is read as one', async () => {
    const { server, rig, target } = await start();
    const challenge = { 'www-authenticate': 'Bearer error="invalid_token", scope="a b"' };
    const cases = [
      [401, 'unauthorized', challenge],
      [403, 'forbidden', {}],
      [429, 'rate_limited', { 'retry-after': '7' }],
      [404, 'wrong_url', {}],
      [307, 'redirected', { location: 'http://169.254.169.254/' }],
      [503, 'upstream_5xx', {}],
    ] as const;
    for (const [status, reason, headers] of cases) {
      server.refusal = { status, headers };
      await expect(rig.open(target)).rejects.toMatchObject({ reason, detail: { status } });
    }
    server.refusal = { status: 401, headers: challenge };
    await expect(rig.open(target)).rejects.toMatchObject({
      detail: { challenge: { scheme: 'bearer', error: 'invalid_token', scope: 'a b' } },
    });
    expect(server.upgrades).toHaveLength(cases.length + 1);
  });

  test('nobody there, a place that may not be asked, another protocol', async () => {
    const { server, rig, target } = await start({ protocol: false });
    await expect(rig.open(target)).rejects.toMatchObject({ reason: 'invalid_response' });
    await expect(rig.open(remoteChannelTarget('websocket', 'ws://127.0.0.1:9/'))).rejects.toMatchObject({
      reason: 'not_allowed',
      outcome: 'unreachable',
    });
    const { port } = server;
    open.splice(0);
    await server.close();
    await expect(rig.open(remoteChannelTarget('websocket', `ws://127.0.0.1:${port}/`))).rejects.toMatchObject(
      {
        reason: 'connect_failed',
        outcome: 'unreachable',
      },
    );
    await rig.closeAll();
  });

  test('the end of the socket is the end of what waits', async () => {
    for (const end of [(code: number) => ({ code }), () => ({ code: undefined })]) {
      const { server, rig, target } = await start();
      const upstream = await rig.open(target);
      server.respond = () => true;
      const waiting = expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({
        reason: 'reset',
        outcome: 'unknown',
      });
      await eventually('the call', () =>
        server.receivedMessages.some(({ method }) => method === 'tools/call'),
      );
      const { code } = end(1011);
      if (code === undefined) server.sockets[0]!.terminate();
      else server.sockets[0]!.close(code, 'crashed');
      await waiting;
      await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({
        reason: 'ended',
        outcome: 'unreachable',
      });
    }
  });

  test('a message over 16 MiB is refused and ends the socket', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    const size = 16 * 1024 * 1024;
    server.respond = ({ id }, socket) => {
      const around = JSON.stringify({ jsonrpc: '2.0', id, result: { text: '' } }).length;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(size - around) } }));
      return true;
    };
    expect(((await callChannelTool(upstream, 'echo')) as { text: string }).text.length).toBeGreaterThan(
      size - 100,
    );
    server.respond = ({ id }, socket) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(size) } }));
      return true;
    };
    await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({ reason: 'too_large' });
    await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({ reason: 'ended' });
  });

  test('what is too large for one is not said to be so of others', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    server.respond = ({ method, id, params }, socket) => {
      if (method === 'tools/call' && (params as JsonObject)['name'] === 'large')
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(16 * 1024 * 1024) } }));
      return method === 'tools/call';
    };
    const outcomes = Promise.allSettled(
      ['other', 'another', 'large'].map((name) => callChannelTool(upstream, name)),
    );
    for (const { reason } of (await outcomes) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ reason: 'reset', outcome: 'unknown' });
  });

  test('a message in too many fragments is refused', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    server.respond = (_message, socket) => {
      for (let i = 0; i <= 16_384; i += 1) socket.send('x', { fin: false });
      return true;
    };
    await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({ reason: 'too_large' });
  });

  test('a frame that is no text ends the socket', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    const codes: number[] = [];
    server.sockets[0]!.on('close', (code) => codes.push(code));
    server.respond = (_message, socket) => {
      socket.send(Buffer.from([1, 2, 3]));
      return true;
    };
    await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({ reason: 'reset' });
    await eventually('the close code', () => codes[0] === 1003);
  });

  test('a peer that answers no ping is given up; one that does is not', async () => {
    const clock = createFakeClock();
    const { server, rig, target } = await start({ clock });
    const upstream = await rig.open(target);
    let ended = 0;
    upstream.onClose(() => (ended += 1));
    let pings = 0;
    const socket = server.sockets[0]!;
    socket.on('ping', () => (pings += 1));
    for (let n = 1; n <= 3; n += 1) {
      await clock.advance(30_000);
      await eventually('the ping', () => pings === n);
      // The pong is back as soon as an answer that was sent after it is.
      await sendRequest(upstream, 'tools/list');
    }
    expect(ended).toBe(0);
    socket.pause();
    await clock.advance(30_000);
    expect(ended).toBe(0);
    await clock.advance(30_000);
    await eventually('the end', () => ended === 1);
    socket.resume();
  });

  test('a server that takes the socket and says nothing is given up', async () => {
    const clock = createFakeClock();
    const { server, rig, target } = await start({ clock });
    server.respond = () => true;
    const opening = rig.open(target, { initTimeoutMs: 1_000 });
    const rejected = expect(opening).rejects.toMatchObject({ reason: 'connect_timeout' });
    await eventually('the handshake', () => server.receivedMessages.length === 1);
    await clock.advance(1_000);
    await rejected;
    await eventually('the socket to end', () => server.sockets[0]!.readyState === 3);
  });
});
