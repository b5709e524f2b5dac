import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { GatewayProcess } from './gatewayProcess.ts';
import {
  clientWith,
  elsewhere,
  legacyClient,
  modernHeaders,
  modernMeta,
  modernRequest,
  type LegacyClient,
  type WireClient,
} from './mcpClient.ts';
import {
  onMongoAndRedis,
  onSqlite,
  startMcpReplicas,
  type McpReplicas,
  type SharedStores,
} from './mcpReplicas.ts';
import { readStream, type OpenStream } from './mcpStream.ts';

type Json = Readonly<Record<string, unknown>>;

const capabilities = { elicitation: { form: {} } };

describe('MCP clients of several replicas on one SQLite file', () => suite(onSqlite));
describeWith('redis-server', 'MCP clients of several replicas on MongoDB and Redis', () =>
  suite(onMongoAndRedis),
);

function suite(open: () => Promise<SharedStores>): void {
  let stores: SharedStores;
  let scene: McpReplicas;
  beforeAll(async () => {
    stores = await open();
    scene = await startMcpReplicas(stores);
  }, 60_000);
  afterAll(async () => {
    await scene.close();
    await stores.close();
  });

  const call = (by: LegacyClient) => by.request('tools/call', { name: 'files__echo', arguments: { a: 1 } });
  const keyOf = () => scene.client.headers['authorization']!.slice('Bearer '.length);

  async function listen(at: GatewayProcess) {
    const params = { notifications: { toolsListChanged: true }, _meta: modernMeta() };
    const body = { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params };
    const response = await clientWith(keyOf(), at.url).post(body, modernHeaders('subscriptions/listen', {}));
    const stream = readStream(response);
    await eventually('it is acknowledged', () => stream.messages.length === 1);
    return stream;
  }

  /** A call of this session that has begun to answer and goes on: its stream, and who holds it. */
  async function begin(session: LegacyClient, id: number): Promise<OpenStream & { holder: string }> {
    const params = { name: 'files__long', arguments: {}, _meta: { progressToken: id } };
    const stream = readStream(await session.post({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const holder = scene.proxy.landed.at(-1) ?? '';
    await eventually('it has begun', () => stream.messages.length === 1);
    return Object.assign(stream, { holder });
  }

  test('behind a proxy that sends every request elsewhere', async () => {
    const since = scene.proxy.landed.length;
    const session = await legacyClient(scene.client);
    for (let round = 0; round < 9; round += 1) {
      const { status, answer } = await call(session);
      expect([round, status, answer.result]).toMatchObject([round, 200, { content: [{ text: '{"a":1}' }] }]);
    }
    const landed = scene.proxy.landed.slice(since);
    // Its beginning, too, was told to two of them.
    expect(landed).toHaveLength(2 + 9);
    for (const [index, url] of landed.entries()) expect(url).not.toBe(landed[index - 1]);
    expect(new Set(landed).size).toBe(3);
  });

  /** A call that waits for an answer: how to come back to it, and who holds it. */
  async function park(by: WireClient) {
    const { answer } = await asking(by);
    const { inputRequests, requestState } = answer.result as Json;
    const [key = ''] = Object.keys(inputRequests as Json);
    return { requestState, inputResponses: { [key]: { action: 'accept', content: {} } } };
  }
  const asking = (by: WireClient, more: Json = {}) =>
    modernRequest(by, 'tools/call', { name: 'files__asking', arguments: {}, ...more }, { capabilities });

  test('the answer comes to another process than the call', async () => {
    for (let round = 0; round < 3; round += 1) {
      const answering = await park(scene.client);
      const { answer } = await asking(scene.client, answering);
      const [at, then] = scene.proxy.landed.slice(-2);
      expect([round, then === at]).toEqual([round, false]);
      expect(answer.result).toMatchObject({ resultType: 'complete' });
      expect(JSON.stringify(answer.result)).toContain('accept');
      // Whoever comes back with it once more, here or there, is told that it is over.
      expect((await asking(scene.client, answering)).answer.error?.code).toBe(-32602);
    }
  });

  test('in the middle of a call, and the session goes on', async () => {
    const [first, second, third] = scene.gateways;
    const session = await legacyClient(scene.client);
    const running = [await begin(session, 101), await begin(session, 102), await begin(session, 103)];
    expect(new Set(running.map(({ holder }) => holder)).size).toBe(3);
    const held = await listen(third);
    const others = [await listen(first), await listen(second)];
    const waiting = await park(clientWith(keyOf(), third.url));

    third.signal('SIGKILL');
    const lost = running.find(({ holder }) => holder === third.url)!;
    const kept = running.filter((stream) => stream !== lost);
    await eventually('its streams are lost', () => held.ended && lost.ended);
    const answering = asking(clientWith(keyOf(), second.url), waiting);
    for (let round = 0; round < 6; round += 1) {
      expect([round, (await call(session)).status]).toEqual([round, 200]);
    }
    expect([...kept, ...others].map(({ ended }) => ended)).toEqual([false, false, false, false]);
    const again = { accept: 'text/event-stream', 'last-event-id': lost.ids[0]! };
    const resumed = readStream(await elsewhere(session, first.url).send('GET', again));
    await eventually('it is told what became of it', () => resumed.ended, 20_000);
    const request = 101 + running.indexOf(lost);
    expect(resumed.messages).toMatchObject([
      { id: request, error: { data: { code: 'MCP_OUTCOME_UNCERTAIN' } } },
    ]);
    scene.finish();
    await eventually('the others are answered', () => kept.every(({ ended }) => ended));
    for (const { messages } of kept) {
      expect(messages[1]).toMatchObject({ result: { content: [{ text: 'done' }] } });
    }
    expect(lost.messages).toHaveLength(1);
    expect((await answering).answer.error?.data).toMatchObject({ code: 'MCP_OUTCOME_UNCERTAIN' });
    for (const other of others) other.close();
  }, 60_000);

  test('in good order when their replica is stopped', async () => {
    const [, second] = scene.gateways;
    const session = elsewhere(await legacyClient(scene.client), second.url);
    const stream = await listen(second);
    const own = readStream(await session.send('GET', { accept: 'text/event-stream' }));
    second.signal('SIGTERM');
    await eventually('both end', () => stream.ended && own.ended);
    expect(stream.messages.slice(1)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 's' } },
      { id: 's', result: { resultType: 'complete' } },
    ]);
    expect(await second.ended()).toBe(0);
  });
}
