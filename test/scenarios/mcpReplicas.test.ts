import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { GatewayProcess } from './gatewayProcess.ts';
import {
  createKeyClient,
  atReplica,
  createLegacyClient,
  createModernHeaders,
  createModernMeta,
  sendModern,
  type LegacyClient,
  type WireClient,
} from './mcpClient.ts';
import {
  startMongoAndRedisStores,
  startSqliteStores,
  startMcpReplicas,
  type McpReplicas,
  type SharedStores,
} from './mcpReplicas.ts';
import { readStream, type OpenStream } from './mcpStream.ts';

type Json = Readonly<Record<string, unknown>>;

const capabilities = { elicitation: { form: {} } };

describe('MCP clients of several replicas on one SQLite file', () => suite(startSqliteStores));
describeWith('redis-server', 'MCP clients of several replicas on MongoDB and Redis', () =>
  suite(startMongoAndRedisStores),
);

function suite(open: () => Promise<SharedStores>): void {
  let stores: SharedStores;
  let rig: McpReplicas;
  beforeAll(async () => {
    stores = await open();
    rig = await startMcpReplicas(stores);
  }, 60_000);
  afterAll(async () => {
    await rig.close();
    await stores.close();
  });

  const call = (by: LegacyClient) => by.request('tools/call', { name: 'files__echo', arguments: { a: 1 } });
  const keyOf = () => rig.client.headers['authorization']!.slice('Bearer '.length);

  async function listen(at: GatewayProcess) {
    const params = { notifications: { toolsListChanged: true }, _meta: createModernMeta() };
    const body = { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params };
    const response = await createKeyClient(keyOf(), at.url).post(
      body,
      createModernHeaders('subscriptions/listen', {}),
    );
    const stream = readStream(response);
    await eventually('it is acknowledged', () => stream.messages.length === 1);
    return stream;
  }

  /** A call of this session that has begun to answer and goes on: its stream, and who holds it. */
  async function begin(session: LegacyClient, id: number): Promise<OpenStream & { holder: string }> {
    const params = { name: 'files__long', arguments: {}, _meta: { progressToken: id } };
    const stream = readStream(await session.post({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const holder = rig.proxy.targets.at(-1) ?? '';
    await eventually('it has begun', () => stream.messages.length === 1);
    return Object.assign(stream, { holder });
  }

  test('behind a proxy that sends every request elsewhere', async () => {
    const since = rig.proxy.targets.length;
    const session = await createLegacyClient(rig.client);
    for (let round = 0; round < 9; round += 1) {
      const { status, message } = await call(session);
      expect([round, status, message.result]).toMatchObject([round, 200, { content: [{ text: '{"a":1}' }] }]);
    }
    const landed = rig.proxy.targets.slice(since);
    // Its beginning, too, was told to two of them.
    expect(landed).toHaveLength(2 + 9);
    for (const [index, url] of landed.entries()) expect(url).not.toBe(landed[index - 1]);
    expect(new Set(landed).size).toBe(3);
  });

  /** A call that waits for an answer: how to come back to it, and who holds it. */
  async function park(by: WireClient) {
    const { message } = await asking(by);
    const { inputRequests, requestState } = message.result as Json;
    const [key = ''] = Object.keys(inputRequests as Json);
    return { requestState, inputResponses: { [key]: { action: 'accept', content: {} } } };
  }
  const asking = (by: WireClient, more: Json = {}) =>
    sendModern(by, 'tools/call', { name: 'files__asking', arguments: {}, ...more }, { capabilities });

  test('the answer comes to another process than the call', async () => {
    for (let round = 0; round < 3; round += 1) {
      const answering = await park(rig.client);
      const { message } = await asking(rig.client, answering);
      const [at, then] = rig.proxy.targets.slice(-2);
      expect([round, then === at]).toEqual([round, false]);
      expect(message.result).toMatchObject({ resultType: 'complete' });
      expect(JSON.stringify(message.result)).toContain('accept');
      // Whoever comes back with it once more, here or there, is told that it is over.
      expect((await asking(rig.client, answering)).message.error?.code).toBe(-32602);
    }
  });

  test('in the middle of a call, and the session goes on', async () => {
    const [first, second, third] = rig.gateways;
    const session = await createLegacyClient(rig.client);
    const running = [await begin(session, 101), await begin(session, 102), await begin(session, 103)];
    expect(new Set(running.map(({ holder }) => holder)).size).toBe(3);
    const held = await listen(third);
    const others = [await listen(first), await listen(second)];
    const waiting = await park(createKeyClient(keyOf(), third.url));

    third.signal('SIGKILL');
    const lost = running.find(({ holder }) => holder === third.url)!;
    const remaining = running.filter((stream) => stream !== lost);
    await eventually('its streams are lost', () => held.isEnded && lost.isEnded);
    const answering = asking(createKeyClient(keyOf(), second.url), waiting);
    for (let round = 0; round < 6; round += 1) {
      expect([round, (await call(session)).status]).toEqual([round, 200]);
    }
    expect([...remaining, ...others].map(({ isEnded }) => isEnded)).toEqual([false, false, false, false]);
    const again = { accept: 'text/event-stream', 'last-event-id': lost.ids[0]! };
    const resumed = readStream(await atReplica(session, first.url).send('GET', again));
    await eventually('it is told what became of it', () => resumed.isEnded, 20_000);
    const request = 101 + running.indexOf(lost);
    expect(resumed.messages).toMatchObject([
      { id: request, error: { data: { code: 'MCP_OUTCOME_UNCERTAIN' } } },
    ]);
    rig.finishCalls();
    await eventually('the others are answered', () => remaining.every(({ isEnded }) => isEnded));
    for (const { messages } of remaining) {
      expect(messages[1]).toMatchObject({ result: { content: [{ text: 'done' }] } });
    }
    expect(lost.messages).toHaveLength(1);
    expect((await answering).message.error?.data).toMatchObject({ code: 'MCP_OUTCOME_UNCERTAIN' });
    for (const other of others) other.close();
  }, 60_000);

  test('in good order when their replica is stopped', async () => {
    const [, second] = rig.gateways;
    const session = atReplica(await createLegacyClient(rig.client), second.url);
    const stream = await listen(second);
    const own = readStream(await session.send('GET', { accept: 'text/event-stream' }));
    second.signal('SIGTERM');
    await eventually('both end', () => stream.isEnded && own.isEnded);
    expect(stream.messages.slice(1)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 's' } },
      { id: 's', result: { resultType: 'complete' } },
    ]);
    expect(await second.waitForExit()).toBe(0);
  });
}
