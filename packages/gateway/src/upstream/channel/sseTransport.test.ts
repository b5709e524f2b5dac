import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  callChannelTool,
  createChannelRig,
  remoteChannelTarget,
  type ChannelRig,
} from '../../../test/channelRig.ts';
import { startSseServer, type ScriptedSseServer } from '../../../test/sseServer.ts';

const open: { rig: ChannelRig; server: ScriptedSseServer }[] = [];
afterEach(async () => {
  for (const { rig, server } of open.splice(0)) {
    await rig.closeAll();
    await server.close();
  }
});

async function start(overrides: Parameters<typeof createChannelRig>[0] = {}) {
  const server = await startSseServer();
  const rig = createChannelRig({ ports: [server.port], ...overrides });
  open.push({ rig, server });
  return { server, rig, target: remoteChannelTarget('sse', server.url) };
}

describe('an HTTP+SSE upstream', () => {
  test('the headers go with the stream and with every message', async () => {
    const { server, rig, target } = await start();
    const headers = { authorization: 'Bearer t0ken', 'x-team': 'blue' };
    const upstream = await rig.open({ ...target, headers }, { era: 'auto' });
    await callChannelTool(upstream, 'tool');
    expect(server.requests.map(({ verb }) => verb)).toEqual(['GET', 'POST', 'POST', 'POST']);
    for (const request of server.requests) expect(request.headers).toMatchObject(headers);
    expect(server.requests[3]!.headers['mcp-protocol-version']).toBe('2025-11-25');
    expect(server.receivedMessages.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
  });

  test('a refusal is read by its status, on the stream and on a message', async () => {
    const challenge = { 'www-authenticate': 'Bearer error="invalid_token"' };
    const scope = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="mail"' };
    const cases = [
      [401, 'unauthorized', challenge],
      [403, 'insufficient_scope', scope],
      [403, 'forbidden', {}],
      [429, 'rate_limited', { 'retry-after': '7' }],
      [500, 'upstream_5xx', {}],
      [400, 'bad_request', {}],
    ] as const;
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    for (const [status, reason, headers] of cases) {
      server.refuseStream = { status, headers, body: 'planted' };
      await expect(rig.open(target)).rejects.toMatchObject({ reason, detail: { status } });
      server.refusePost = ({ method }) =>
        method === 'ping' ? undefined : { status, headers, body: 'planted' };
      await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({ reason, detail: { status } });
    }
    server.refuseStream = { status: 401, headers: challenge };
    await expect(rig.open(target)).rejects.toMatchObject({
      detail: { challenge: { scheme: 'bearer', error: 'invalid_token' } },
    });
    server.refuseStream = { status: 404 };
    await expect(rig.open(target)).rejects.toMatchObject({ reason: 'wrong_url' });
    server.refusePost = undefined;
    expect(await callChannelTool(upstream, 'tool')).toEqual({ content: [] });
  });

  const sessionCode = JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32000, message: 'no session' },
  });
  for (const refusal of [
    { status: 404 },
    { status: 400, body: 'No transport found for sessionId' },
    { status: 400, body: sessionCode },
  ]) {
    test(`a message for a session that is gone was not run, and may go out again (${JSON.stringify(refusal)})`, async () => {
      const { server, rig, target } = await start();
      const upstream = await rig.open(target);
      let ended = 0;
      upstream.onClose(() => (ended += 1));
      server.respond = ({ method }) => method === 'tools/call';
      const sent = expect(callChannelTool(upstream, 'sent')).rejects.toMatchObject({
        reason: 'reset',
        outcome: 'unknown',
      });
      const calls = () => server.receivedMessages.filter(({ method }) => method === 'tools/call').length;
      await eventually('the first call', () => calls() === 1);
      server.refusePost = refusal;
      await expect(callChannelTool(upstream, 'lost')).rejects.toMatchObject({
        reason: 'ended',
        outcome: 'unreachable',
      });
      // Whoever asks again gets a new conversation, not this one.
      expect(ended).toBe(1);
      await sent;
      await expect(callChannelTool(upstream, 'late')).rejects.toMatchObject({ reason: 'ended' });
      server.refusePost = undefined;
      server.respond = () => false;
      await callChannelTool(await rig.open(target), 'lost');
      expect(calls()).toBe(2);
    });
  }

  test('a refusal of one message on a session that lives is no loss', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    const error = (id: unknown, code: number) =>
      JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } });
    for (const [reason, reply] of [
      ['bad_request', () => ({ status: 400, body: 'Invalid message' })],
      ['bad_request', () => ({ status: 400, body: error(null, -32000) })],
      ['rpc_error', (id: unknown) => ({ status: 400, body: error(id, -32000) })],
      ['rpc_error', (id: unknown) => ({ status: 404, body: error(id, -32002) })],
    ] as const) {
      server.refusePost = ({ method, id }) => (method === 'tools/call' ? reply(id) : undefined);
      await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({ reason });
    }
    server.refusePost = undefined;
    expect(await callChannelTool(upstream, 'tool')).toEqual({ content: [] });
    expect(server.requests.filter(({ verb }) => verb === 'GET')).toHaveLength(1);
  });

  test('an answer of ours that is refused is no request, whatever id the server gave it', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    server.refusePost = ({ method }) => (method === undefined ? { status: 404 } : undefined);
    server.respond = ({ id, method }) => {
      if (method === 'tools/call') server.send({ id, method: 'ping' });
      return method === 'tools/call';
    };
    await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({
      reason: 'reset',
      outcome: 'unknown',
    });
  });

  test('an answer to a message whose body never comes is cut off', async () => {
    const clock = createFakeClock();
    const { server, rig, target } = await start({ clock });
    const upstream = await rig.open(target);
    server.shouldStallPosts = true;
    expect(await callChannelTool(upstream, 'tool')).toEqual({ content: [] });
    const [stalled] = server.posts;
    expect(stalled!.destroyed).toBe(false);
    await eventually('its end', async () => {
      await clock.advance(500);
      return stalled!.destroyed;
    });
    expect(await callChannelTool(upstream, 'tool')).toEqual({ content: [] });
  });

  test('ends what waits; no second stream is opened behind our back', async () => {
    for (const end of ['end', 'destroy'] as const) {
      const { server, rig, target } = await start();
      const upstream = await rig.open(target);
      // Were it to come back, it would be at once.
      server.streams[0]!.write('retry: 0\n\n');
      server.respond = () => true;
      const waiting = expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({
        reason: 'reset',
        outcome: 'unknown',
      });
      await eventually('the call', () =>
        server.receivedMessages.some(({ method }) => method === 'tools/call'),
      );
      server.streams[0]![end]();
      await waiting;
      await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({
        reason: 'ended',
        outcome: 'unreachable',
      });
      // Several exchanges with the same server take longer than a timer of zero.
      server.respond = () => false;
      await callChannelTool(await rig.open(target), 'tool');
      expect(server.requests.filter(({ verb }) => verb === 'GET')).toHaveLength(2);
    }
  });

  test('an event without end is refused', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    server.respond = (_message, stream) => {
      const more = 'x'.repeat(1 << 20);
      stream.write('data: ');
      for (let n = 0; n < 20; n += 1) stream.write(more);
      return true;
    };
    await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({
      reason: 'too_large',
      code: 'MCP_RESPONSE_TOO_LARGE',
    });
    await expect(callChannelTool(upstream, 'tool')).rejects.toMatchObject({ reason: 'ended' });
  });

  test('what is no message is stepped over', async () => {
    const { server, rig, target } = await start();
    const upstream = await rig.open(target);
    server.respond = (_message, stream) => {
      stream.write(': a comment\n\ndata: no json\n\nevent: odd\ndata: {}\n\ndata: {"jsonrpc":"1.0"}\n\n');
      return false;
    };
    expect(await callChannelTool(upstream, 'tool')).toEqual({ content: [] });
    const odd = { content: [{ type: 'hologram', depth: 3 }], novel: { a: [null] }, _meta: { 'x/y': 1 } };
    server.respond = ({ id }) => {
      server.send({ id, result: odd });
      return true;
    };
    expect(await callChannelTool(upstream, 'tool')).toEqual(odd);
  });

  test('an endpoint elsewhere gets nothing, least of all the credential', async () => {
    const { server, rig, target } = await start();
    const other = await startSseServer();
    try {
      for (const endpoint of [
        other.url,
        `//127.0.0.1:${other.port}/`,
        'http://169.254.169.254/latest',
        'http://[',
      ]) {
        server.endpoint = endpoint;
        await expect(
          rig.open({ ...target, headers: { authorization: 'Bearer t0ken' } }),
        ).rejects.toMatchObject({ reason: 'invalid_response' });
      }
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('no stream, nobody there, and a place that may not be asked', async () => {
    const { server, rig, target } = await start();
    server.refuseStream = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
    await expect(rig.open(target)).rejects.toMatchObject({ reason: 'invalid_response' });
    await expect(rig.open(remoteChannelTarget('sse', 'http://127.0.0.1:9/sse'))).rejects.toMatchObject({
      reason: 'not_allowed',
      outcome: 'unreachable',
    });
    await server.close();
    open.splice(0);
    await expect(rig.open(target)).rejects.toMatchObject({
      reason: 'connect_failed',
      outcome: 'unreachable',
    });
    await rig.closeAll();
  });

  test('a server that names no endpoint, or does not answer, is given up', async () => {
    for (const silent of ['endpoint', 'initialize']) {
      const clock = createFakeClock();
      const { server, rig, target } = await start({ clock });
      if (silent === 'endpoint') server.endpoint = undefined;
      server.respond = () => true;
      const opening = rig.open(target, { initTimeoutMs: 1_000 });
      const rejected = expect(opening).rejects.toMatchObject({ reason: 'connect_timeout' });
      await eventually('the stream', () => server.streams.length === 1);
      if (silent === 'initialize')
        await eventually('the handshake', () => server.receivedMessages.length === 1);
      await clock.advance(1_000);
      await rejected;
      await eventually('the stream to end', () => server.streams[0]!.destroyed);
    }
  });
});
