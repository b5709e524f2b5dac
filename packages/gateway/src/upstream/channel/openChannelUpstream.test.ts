import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { callChannelTool } from '../../../test/channelRig.ts';
import { startCall, createFakeChannel, openFakeChannel } from '../../../test/fakeChannel.ts';
import type { JsonObject } from '../upstream.ts';
import { openChannelUpstream } from './openChannelUpstream.ts';

describe('opening a channel', () => {
  test('says who we are and believes nothing more than it must', async () => {
    const { channel, upstream } = await openFakeChannel();
    expect(channel.sent).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'behalf', version: '1.2.3' },
          _meta: { progressToken: 1 },
        },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized', params: {} },
    ]);
    expect(upstream.claims).toEqual({
      era: 'legacy',
      protocolVersion: '2025-11-25',
      name: 'fake',
      version: '1',
      instructions: undefined,
      capabilities: {},
    });
  });

  test('a revision that nobody knows is refused and closed', async () => {
    for (const protocolVersion of ['1999-01-01', 7, undefined, '2026-07-28']) {
      const channel = createFakeChannel();
      channel.answerInitialize({ protocolVersion });
      const options = { server: 'x', owner: undefined, era: 'legacy' as const, initTimeoutMs: 1_000 };
      const opening = openChannelUpstream(
        channel.transport,
        { ...options, signal: new AbortController().signal },
        { clock: createFakeClock(), version: '1', log: () => undefined },
      );
      await expect(opening).rejects.toMatchObject({ reason: 'invalid_response' });
      expect(channel.closeCount).toBe(1);
    }
  });

  test('a server that never answers is given up, and not cancelled', async () => {
    const channel = createFakeChannel();
    const clock = createFakeClock();
    const opening = openChannelUpstream(
      channel.transport,
      {
        server: 'x',
        owner: undefined,
        era: 'legacy',
        initTimeoutMs: 1_000,
        signal: new AbortController().signal,
      },
      { clock, version: '1', log: () => undefined },
    );
    const refused = expect(opening).rejects.toMatchObject({
      reason: 'connect_timeout',
      outcome: 'unreachable',
    });
    await clock.advance(999);
    expect(channel.closeCount).toBe(0);
    await clock.advance(1);
    await refused;
    expect(channel.closeCount).toBe(1);
    // The protocol forbids to cancel it.
    expect(channel.sentWith('notifications/cancelled')).toEqual([]);
  });
});

describe('a request over a channel', () => {
  test('any method, with a progress token, and the answer as it came', async () => {
    const rig = await openFakeChannel();
    const { outcome, message, id } = startCall(rig, { meta: { traceparent: '00-1', progressToken: 'mine' } });
    expect(message).toEqual({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'tool', arguments: { a: 1 }, _meta: { traceparent: '00-1', progressToken: id } },
    });
    const result = { content: [{ type: 'hologram' }], structuredContent: [1], novel: null, isError: true };
    rig.channel.receive({ id, result });
    expect(await outcome).toEqual({ result });
  });

  test('silence ends it; progress starts the silence anew, up to the total', async () => {
    const rig = await openFakeChannel();
    const received: unknown[] = [];
    const { outcome, id } = startCall(rig, {
      timeoutMs: 100,
      totalMs: 250,
      onProgress: ({ progress }) => received.push(progress),
    });
    let ended = false;
    void outcome.then(() => (ended = true));
    for (let progress = 1; progress <= 3; progress += 1) {
      await rig.clock.advance(80);
      expect(ended).toBe(false);
      rig.channel.receive({ method: 'notifications/progress', params: { progressToken: id, progress } });
    }
    expect(received).toEqual([1, 2, 3]);
    await rig.clock.advance(9);
    expect(ended).toBe(false);
    await rig.clock.advance(1);
    expect(await outcome).toMatchObject({ error: { reason: 'timeout', outcome: 'unknown' } });
    const silent = startCall(rig, { timeoutMs: 100, totalMs: 250 });
    await rig.clock.advance(100);
    expect(await silent.outcome).toMatchObject({ error: { reason: 'timeout' } });
    expect(
      rig.channel
        .sentWith('notifications/cancelled')
        .map(({ params }) => (params as JsonObject)['requestId']),
    ).toEqual([id, silent.id]);
  });

  test('the caller is released at once and the server is told', async () => {
    const rig = await openFakeChannel();
    const controller = new AbortController();
    const { outcome, id } = startCall(rig, { signal: controller.signal });
    const reason = new Error('gave up');
    controller.abort(reason);
    expect(await outcome).toEqual({ error: reason });
    expect(rig.channel.sentWith('notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
    // A late answer, and an answer to nothing, are nobody's.
    rig.channel.receive({ id, result: {} });
    rig.channel.receive({ id: 999, result: {} });
    rig.channel.receive({ id: null, error: { code: 1, message: '' } });
    const sent = rig.channel.sent.length;
    await expect(callChannelTool(rig.upstream, 'tool', {}, { signal: controller.signal })).rejects.toBe(
      reason,
    );
    expect(rig.channel.sent).toHaveLength(sent);
  });

  test('an error of the server, a shape that is none, and the end', async () => {
    const rig = await openFakeChannel();
    const failing = async (message: JsonObject) => {
      const { outcome, id } = startCall(rig);
      rig.channel.receive({ id, ...message });
      return ((await outcome) as { error: unknown }).error;
    };
    const error = { code: -32602, message: 'bad', data: { why: 1 } };
    expect(await failing({ error })).toMatchObject({
      reason: 'rpc_error',
      outcome: 'failed',
      code: 'MCP_PROTOCOL_ERROR',
      detail: { rpc: error },
    });
    expect(await failing({ error: { code: -32042, message: 'url' } })).toMatchObject({
      reason: 'input_required',
      outcome: 'refused',
    });
    expect(await failing({ error: 'no' })).toMatchObject({ reason: 'invalid_response', outcome: 'unknown' });
    for (const result of [undefined, null, 'text', [1]])
      expect(await failing({ result })).toMatchObject({ reason: 'invalid_response' });

    const { outcome } = startCall(rig);
    rig.channel.transport.onclose?.();
    expect(await outcome).toMatchObject({ error: { reason: 'reset', outcome: 'unknown' } });
    const sent = rig.channel.sent.length;
    expect(await startCall(rig).outcome).toMatchObject({
      error: { reason: 'ended', outcome: 'unreachable' },
    });
    expect(rig.channel.sent).toHaveLength(sent);
  });
});
