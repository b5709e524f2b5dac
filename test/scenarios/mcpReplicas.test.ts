import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  eventually,
  scriptedHttpServer,
  verifies,
  type ScriptedCall,
  type ScriptedHttpServer,
} from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { createWorkplace, type GatewayProcess, type Workplace } from './gatewayProcess.ts';
import {
  clientWith,
  elsewhere,
  legacyClient,
  modernHeaders,
  modernMeta,
  wireClient,
  type LegacyClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream, type OpenStream } from './mcpStream.ts';
import { createPeople, type Person } from './people.ts';
import { startRoundRobin, type RoundRobin } from './roundRobin.ts';
import { http, yamlWith } from './serverYaml.ts';

describe('MCP clients of several replicas', () => {
  let place: Workplace;
  let upstream: ScriptedHttpServer;
  let proxy: RoundRobin;
  let gateways: GatewayProcess[];
  let client: WireClient;
  const finish: (() => void)[] = [];

  beforeAll(async () => {
    place = await createWorkplace();
    const handler = async (_: object, call: ScriptedCall) => {
      call.progress(1, 2);
      await new Promise<void>((resolve) => finish.push(resolve));
      return { content: [{ type: 'text', text: 'done' }] };
    };
    const tools = [{ name: 'echo' }, { name: 'long', handler }];
    upstream = await scriptedHttpServer({ era: 'legacy', tools });
    proxy = await startRoundRobin();
    await writeFile(join(place.dir, 'librechat.yaml'), yamlWith({ files: http(upstream.url) }));
    const env = { CREDS_KEY: 'e'.repeat(64), RATE_LIMIT_CALLS: '100000' };
    gateways = [await place.start(env), await place.start(env), await place.start(env)];
    proxy.balance(gateways.map(({ url }) => url));
    const dataDir = join(place.dir, 'data');
    const [ada] = (await createPeople({ url: gateways[0]!.url, dataDir }, ['Ada'])) as [Person];
    client = await wireClient(ada, proxy.url);
  }, 60_000);

  afterAll(async () => {
    proxy.close();
    await place.clear();
    await upstream.close();
  });

  const call = (by: LegacyClient) => by.request('tools/call', { name: 'files__echo', arguments: { a: 1 } });
  const keyOf = () => client.headers['authorization']!.slice('Bearer '.length);

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
    const holder = proxy.landed.at(-1) ?? '';
    await eventually('it has begun', () => stream.messages.length === 1);
    return Object.assign(stream, { holder });
  }

  verifies('mcp.session.replicas', 'behind a proxy that sends every request elsewhere', async () => {
    const since = proxy.landed.length;
    const session = await legacyClient(client);
    for (let round = 0; round < 9; round += 1) {
      const { status, answer } = await call(session);
      expect([round, status, answer.result]).toMatchObject([round, 200, { content: [{ text: '{"a":1}' }] }]);
    }
    const landed = proxy.landed.slice(since);
    // Its beginning, too, was told to two of them.
    expect(landed).toHaveLength(2 + 9);
    for (const [index, url] of landed.entries()) expect(url).not.toBe(landed[index - 1]);
    expect(new Set(landed).size).toBe(3);
  });

  verifies('mcp.replicas.lost', 'in the middle of a call, and the session goes on', async () => {
    const [first, second, third] = gateways as [GatewayProcess, GatewayProcess, GatewayProcess];
    const session = await legacyClient(client);
    const running = [await begin(session, 101), await begin(session, 102), await begin(session, 103)];
    expect(new Set(running.map(({ holder }) => holder)).size).toBe(3);
    const held = await listen(third);
    const others = [await listen(first), await listen(second)];

    third.signal('SIGKILL');
    const lost = running.find(({ holder }) => holder === third.url)!;
    const kept = running.filter((stream) => stream !== lost);
    await eventually('its streams are lost', () => held.ended && lost.ended);
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
    for (const end of finish) end();
    await eventually('the others are answered', () => kept.every(({ ended }) => ended));
    for (const { messages } of kept) {
      expect(messages[1]).toMatchObject({ result: { content: [{ text: 'done' }] } });
    }
    expect(lost.messages).toHaveLength(1);
    for (const other of others) other.close();
  });

  verifies('mcp.door.streams', 'in good order when their replica is stopped', async () => {
    const [, second] = gateways as [GatewayProcess, GatewayProcess];
    const session = elsewhere(await legacyClient(client), second.url);
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
});
