import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createKeyClient,
  createLegacyClient,
  META_PREFIX,
  createModernHeaders,
  createModernMeta,
  createWireClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const methods = {
  'resources/list': () => ({ resources: [{ uri: 'x:1', name: 'one' }] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({ prompts: [] }),
};

describe('what MCP clients are told of changes', () => {
  const rig = createGatewayRig();

  async function begin(era: 'legacy' | 'modern', names: string[] = ['Ada']) {
    const upstream = await rig.startServer({
      era,
      tools: [{ name: 'echo' }],
      capabilities,
      methods,
      getStream: true,
    });
    const yaml = renderYaml({ files: httpDefinition(upstream.url) });
    const users = (await rig.start(yaml, names)) as [TestUser];
    await eventually('the gateway listens', () => upstream.openStreams > 0);
    return { upstream, yaml, users, client: await createWireClient(users[0], rig.gateway.url) };
  }

  async function listen(client: WireClient, notifications: object, id = 's1') {
    const params = { notifications, _meta: createModernMeta() };
    const closing = new AbortController();
    const response = await client.post(
      { jsonrpc: '2.0', id, method: 'subscriptions/listen', params },
      createModernHeaders('subscriptions/listen', {}),
      { signal: closing.signal },
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    return readStream(response, closing);
  }

  const tagged = { _meta: { [`${META_PREFIX}subscriptionId`]: 's1' } };

  test('of lists and of resources, by a server of either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { upstream, client } = await begin(era);
      const stream = await listen(client, {
        ...{ toolsListChanged: true, promptsListChanged: false },
        resourceSubscriptions: ['x:1', 'x:nothing'],
      });
      await eventually('it is acknowledged', () => stream.messages.length === 1);
      expect(stream.messages[0]).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['x:1'] }, ...tagged },
      });
      upstream.push('notifications/prompts/list_changed');
      upstream.push('notifications/resources/updated', { uri: 'x:2' });
      upstream.push('notifications/resources/updated', { uri: 'x:1' });
      upstream.push('notifications/tools/list_changed');
      await eventually('it is told', () => stream.messages.length >= 3);
      const received = stream.messages.slice(1).map(({ method, params }) => [method, params]);
      expect(received.sort()).toEqual([
        ['notifications/resources/updated', { uri: 'x:1', ...tagged }],
        ['notifications/tools/list_changed', tagged],
      ]);
      stream.close();
    }
  });

  test('where they are open, also when it was said elsewhere', async () => {
    const { users, client } = await begin('modern', ['Ada', 'Bob']);
    const [ada, bob] = users as unknown as [TestUser, TestUser];
    const open = async (by: WireClient) => {
      const stream = await listen(by, { toolsListChanged: true });
      await eventually('it is acknowledged', () => stream.messages.length === 1);
      return stream;
    };
    const own = await open(client);
    const others = await open(await createWireClient(bob, rig.gateway.url));
    const [there] = (await rig.startReplica([ada])) as [TestUser];
    expect((await there.post('/api/auth/logout')).status).toBe(204);
    await eventually('hers ends', () => own.isEnded);
    expect(others.isEnded).toBe(false);
    // Her key is as good as before: she is looked at anew.
    (await open(client)).close();
    others.close();
  });

  test('every kind of them, also when it was said elsewhere', async () => {
    const stuck = { name: 'stuck', handler: () => new Promise<never>(() => undefined) };
    const upstream = await rig.startServer({ era: 'legacy', tools: [stuck], capabilities, getStream: true });
    const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }), ['Ada', 'Bob']);
    const [ada, bob] = users as [TestUser, TestUser];
    const made = await ada.post('/api/user/keys', { name: 'client', scopes: ['mcp'] });
    const key = (await made.json()) as { id: string; key: string };
    const call = (id: number, meta: object = {}) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'files__stuck', arguments: {}, _meta: meta },
    });
    const openAll = async (client: WireClient) => {
      const session = await createLegacyClient(client);
      const headers = createModernHeaders('tools/call', { name: 'files__stuck' });
      // What has not answered yet is a stream that has not begun.
      const calls = [session.post(call(1)), client.post(call(2, createModernMeta()), headers)];
      const ended = calls.map(async (response) => {
        await (await response).text();
      });
      const streams = [
        await listen(client, { toolsListChanged: true }),
        readStream(await session.send('GET', { accept: 'text/event-stream' })),
      ];
      const over = Promise.allSettled(ended).then(() => true);
      return { streams, over };
    };
    const hers = await openAll(createKeyClient(key.key, rig.gateway.url));
    const other = await openAll(await createWireClient(ada, rig.gateway.url));
    const bobs = await openAll(await createWireClient(bob, rig.gateway.url));
    await eventually('all calls run', () => upstream.received('tools/call').length === 6);
    const [there] = (await rig.startReplica([ada])) as [TestUser];
    expect((await there.send('DELETE', `/api/user/keys/${key.id}`)).status).toBe(204);
    await eventually('hers end', () => hers.streams.every(({ isEnded }) => isEnded));
    expect(await hers.over).toBe(true);
    await eventually('the server knows', () => upstream.received('notifications/cancelled').length === 2);
    for (const { isEnded } of [...other.streams, ...bobs.streams]) expect(isEnded).toBe(false);
    expect(upstream.received('notifications/cancelled')).toHaveLength(2);
  });

  test('or at once when there is nothing to hear', async () => {
    const { client } = await begin('modern');
    const stream = await listen(client, {});
    await eventually('it ends', () => stream.isEnded);
    expect(stream.messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {}, ...tagged } },
      { method: 'notifications/cancelled', params: { requestId: 's1' } },
      { id: 's1', result: { resultType: 'complete', ...tagged } },
    ]);
    const params = { notifications: 5, _meta: createModernMeta() };
    const refused = await client.post(
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params },
      createModernHeaders('subscriptions/listen', {}),
    );
    expect(await refused.json()).toMatchObject({ error: { code: -32602 } });
  });

  test('on the stream of a session, and of its resources', async () => {
    const { upstream, client } = await begin('legacy');
    const legacy = await createLegacyClient(client);
    const stream = readStream(await legacy.send('GET', { accept: 'text/event-stream' }));
    expect((await legacy.request('resources/subscribe', { uri: 'x:1' })).message.result).toEqual({});
    expect((await legacy.request('resources/subscribe', { uri: 'x:nothing' })).message.error?.code).toBe(
      -32002,
    );
    await eventually('it is subscribed', () => upstream.received('resources/subscribe').length === 1);
    upstream.push('notifications/tools/list_changed');
    upstream.push('notifications/resources/updated', { uri: 'x:1' });
    await eventually('it is told', () => stream.messages.length === 2);
    expect(stream.messages.map(({ method }) => method).sort()).toEqual([
      'notifications/resources/updated',
      'notifications/tools/list_changed',
    ]);
    await legacy.request('resources/unsubscribe', { uri: 'x:1' });
    await eventually('it is let go', () => upstream.received('resources/unsubscribe').length === 1);
    const second = readStream(await legacy.send('GET', { accept: 'text/event-stream' }));
    await eventually('the last to come reads', () => stream.isEnded);
    expect((await legacy.send('DELETE')).status).toBe(204);
    await eventually('and it ends with the session', () => second.isEnded);
  });

  test('servers that come and go, and who may use them', async () => {
    const { upstream, client } = await begin('legacy');
    const legacy = await createLegacyClient(client);
    const stream = readStream(await legacy.send('GET', { accept: 'text/event-stream' }));
    await rig.gateway.reload(
      renderYaml({ files: httpDefinition(upstream.url), more: httpDefinition(upstream.url) }),
    );
    await eventually('it is told', () => stream.messages.length === 3);
    expect(stream.messages.map(({ method }) => method).sort()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/tools/list_changed',
    ]);
  });

  test('not those of a server that they may not use', async () => {
    const shown = await rig.startServer({ era: 'legacy', capabilities, getStream: true });
    const hidden = await rig.startServer({ era: 'legacy', capabilities, getStream: true });
    const [bob] = (await rig.start(
      renderYaml({
        shown: httpDefinition(shown.url),
        hidden: httpDefinition(hidden.url, { access: { roles: ['ADMIN'] } }),
      }),
      ['Bob'],
    )) as [TestUser];
    await eventually('the gateway listens', () => shown.openStreams > 0 && hidden.openStreams > 0);
    const stream = await listen(await createWireClient(bob, rig.gateway.url), {
      toolsListChanged: true,
      promptsListChanged: true,
    });
    await eventually('it is acknowledged', () => stream.messages.length === 1);
    hidden.push('notifications/tools/list_changed');
    shown.push('notifications/prompts/list_changed');
    await eventually('it is told', () => stream.messages.length === 2);
    expect(stream.messages[1]?.method).toBe('notifications/prompts/list_changed');
  });

  test('one user has so many, and others theirs', async () => {
    const { users } = await begin('legacy', ['Ada', 'Bob']);
    const [ada, bob] = users as unknown as [TestUser, TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const streams = await Promise.all(
      Array.from({ length: 64 }, (_, index) => listen(client, { toolsListChanged: true }, `s${index}`)),
    );
    const params = { notifications: { toolsListChanged: true }, _meta: createModernMeta() };
    const body = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
    const refused = await client.post(body, createModernHeaders('subscriptions/listen', {}));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    (await listen(await createWireClient(bob, rig.gateway.url), { toolsListChanged: true })).close();
    streams[0]!.close();
    await eventually('there is room again', async () => {
      const closing = new AbortController();
      const again = await client.post(body, createModernHeaders('subscriptions/listen', {}), {
        signal: closing.signal,
      });
      closing.abort();
      return again.status === 200;
    });
    for (const stream of streams) stream.close();
  });
});
