import { createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { sendRequest } from '../../../test/channelRig.ts';
import { startCall, createFakeChannel } from '../../../test/fakeChannel.ts';
import type { JsonObject, Upstream } from '../upstream.ts';
import { openChannelUpstream } from './openChannelUpstream.ts';

describe('the modern era over a channel', () => {
  async function openedModern(discovered: JsonObject = {}) {
    const clock = createFakeClock();
    const channel = createFakeChannel();
    const opening = openChannelUpstream(
      channel.transport,
      {
        server: 'fake',
        owner: 'user-1',
        era: 'modern',
        initTimeoutMs: 1_000,
        signal: new AbortController().signal,
      },
      { clock, version: '1.2.3', log: () => undefined },
    );
    await clock.advance(0);
    const { id } = channel.sent[0] as { id: number };
    channel.receive({ id, result: { supportedVersions: ['2026-07-28'], capabilities: {}, ...discovered } });
    const upstream: Upstream = await opening;
    return { clock, channel, upstream };
  }
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'behalf', version: '1.2.3' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  test('every request says who sends it, and nothing is initialised', async () => {
    const rig = await openedModern({ instructions: 'be kind' });
    expect(rig.upstream.claims).toMatchObject({
      era: 'modern',
      protocolVersion: '2026-07-28',
      instructions: 'be kind',
    });
    const { outcome, message, id } = startCall(rig, {
      meta: { 'io.modelcontextprotocol/protocolVersion': 'forged', traceparent: '00-1' },
    });
    expect(message.params._meta).toEqual({ ...envelope, traceparent: '00-1', progressToken: id });
    rig.channel.receive({ id, result: { resultType: 'complete', content: [] } });
    expect(await outcome).toEqual({ result: { resultType: 'complete', content: [] } });
    expect(rig.channel.sentWith('initialize')).toEqual([]);
    expect(rig.channel.sentWith('notifications/initialized')).toEqual([]);
  });

  test('input that is required is a refusal, an unknown kind is garbage', async () => {
    const rig = await openedModern();
    const wanted = { resultType: 'input_required', inputRequests: {}, requestState: 's' };
    const first = startCall(rig);
    rig.channel.receive({ id: first.id, result: wanted });
    expect(await first.outcome).toMatchObject({
      error: { reason: 'input_required', outcome: 'refused', detail: { result: wanted } },
    });
    const second = startCall(rig);
    rig.channel.receive({ id: second.id, result: { resultType: 'riddle' } });
    expect(await second.outcome).toMatchObject({ error: { reason: 'invalid_response' } });
  });

  test('a subscription is open while somebody listens, and only then', async () => {
    const { channel, upstream } = await openedModern();
    expect(channel.sentWith('subscriptions/listen')).toEqual([]);
    const received: unknown[] = [];
    const stop = upstream.listen(({ method }) => received.push(method), {});
    const stopOther = upstream.listen(() => undefined, {});
    expect(channel.sentWith('subscriptions/listen')).toHaveLength(1);
    const { id, params } = channel.sentWith('subscriptions/listen')[0] as { id: number; params: JsonObject };
    expect(params['notifications']).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
    channel.receive({ method: 'notifications/tools/list_changed' });
    expect(received).toEqual(['notifications/tools/list_changed']);
    // It waits beside the requests of the owner and is none of them.
    const logs: unknown[] = [];
    const answer = sendRequest(upstream, 'tools/list', {}, { onLog: (message) => logs.push(message) });
    channel.receive({ method: 'notifications/message', params: { level: 'info', data: 1 } });
    expect(logs).toHaveLength(1);
    channel.receive({ id: (channel.sent.at(-1) as { id: number }).id, result: { tools: [] } });
    await answer;
    stop();
    expect(channel.sentWith('notifications/cancelled')).toEqual([]);
    stopOther();
    expect(channel.sentWith('notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
    upstream.listen(() => undefined, {});
    expect(channel.sentWith('subscriptions/listen')).toHaveLength(2);
  });

  test('a subscription names the resources of all who listen, and is there before the last one ends', async () => {
    const { channel, upstream } = await openedModern();
    const named = () =>
      channel
        .sentWith('subscriptions/listen')
        .map(
          ({ params }) => (params as { notifications: JsonObject }).notifications['resourceSubscriptions'],
        );
    const received: unknown[] = [];
    const stop = upstream.listen(({ params }) => received.push(params['uri']), { resources: ['x:2', 'x:1'] });
    const stopOther = upstream.listen(() => undefined, { resources: ['x:1'] });
    upstream.listen(() => undefined, {});
    expect(named()).toEqual([['x:1', 'x:2']]);
    channel.receive({ method: 'notifications/resources/updated', params: { uri: 'x:1' } });
    channel.receive({ method: 'notifications/resources/updated', params: { uri: 'x:3' } });
    expect(received).toEqual(['x:1']);
    stop();
    expect(named()).toEqual([['x:1', 'x:2'], ['x:1']]);
    stopOther();
    expect(named()).toEqual([['x:1', 'x:2'], ['x:1'], undefined]);
    const methods = channel.sent.slice(-4).map(({ method }) => method);
    expect(methods).toEqual([
      ...['subscriptions/listen', 'notifications/cancelled'],
      ...['subscriptions/listen', 'notifications/cancelled'],
    ]);
  });

  test('of a modern server what it acknowledges, while it does', async () => {
    const announcing = { tools: { listChanged: true }, prompts: { listChanged: true } };
    const { channel, upstream } = await openedModern({ capabilities: announcing });
    const reported: unknown[] = [];
    upstream.listen(() => undefined, { onSubscribedLists: (lists) => reported.push(lists) });
    expect(reported).toEqual([[]]);
    const acknowledge = (notifications: JsonObject) =>
      channel.receive({ method: 'notifications/subscriptions/acknowledged', params: { notifications } });
    acknowledge({ toolsListChanged: true, resourcesListChanged: true });
    expect(reported).toEqual([[], ['tools']]);
    // Opened anew for a resource, it goes on.
    upstream.listen(() => undefined, { resources: ['x:1'] });
    await Promise.resolve();
    expect(reported).toHaveLength(2);
    const { id } = channel.sentWith('subscriptions/listen').at(-1) as { id: number };
    channel.receive({ id, error: { code: -32603, message: 'over' } });
    await eventually('it is over', () => reported.length === 3);
    expect(reported[2]).toEqual([]);
  });

  test('a server that is legacy after all is initialised, unless that is pinned', async () => {
    for (const isEraFixed of [false, true]) {
      const clock = createFakeClock();
      const channel = createFakeChannel();
      channel.answerInitialize();
      const opening = openChannelUpstream(
        channel.transport,
        {
          server: 'x',
          owner: undefined,
          era: 'modern',
          isEraFixed,
          initTimeoutMs: 1_000,
          signal: new AbortController().signal,
        },
        { clock, version: '1', log: () => undefined },
      );
      const settled = opening.then(
        ({ claims }) => claims.era,
        (error: unknown) => (error as { reason: string }).reason,
      );
      await clock.advance(0);
      channel.receive({ id: (channel.sent[0] as { id: number }).id, error: { code: -32601, message: '' } });
      expect(await settled).toBe(isEraFixed ? 'bad_request' : 'legacy');
    }
  });
});
