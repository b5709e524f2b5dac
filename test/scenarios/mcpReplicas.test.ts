import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, scriptedHttpServer, verifies, type ScriptedHttpServer } from '@behalf/testkit';
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
import { readStream } from './mcpStream.ts';
import { createPeople, type Person } from './people.ts';
import { http, yamlWith } from './serverYaml.ts';

describe('MCP clients of several replicas', () => {
  let place: Workplace;
  let upstream: ScriptedHttpServer;
  let gateways: GatewayProcess[];
  let client: WireClient;
  const env = { CREDS_KEY: 'e'.repeat(64), RATE_LIMIT_CALLS: '100000' };

  beforeAll(async () => {
    place = await createWorkplace();
    upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    await writeFile(join(place.dir, 'librechat.yaml'), yamlWith({ files: http(upstream.url) }));
    gateways = [await place.start(env), await place.start(env), await place.start(env)];
    const dataDir = join(place.dir, 'data');
    const [ada] = (await createPeople({ url: gateways[0]!.url, dataDir }, ['Ada'])) as [Person];
    client = await wireClient(ada, gateways[0]!.url);
  }, 60_000);

  afterAll(async () => {
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

  verifies('mcp.session.replicas', 'each request at another, and one of them dies', async () => {
    const [first, second, third] = gateways as [GatewayProcess, GatewayProcess, GatewayProcess];
    const session = await legacyClient(client);
    const at = (gateway: GatewayProcess) => elsewhere(session, gateway.url);
    for (let round = 0; round < 9; round += 1) {
      const { status, answer } = await call(at(gateways[round % 3]!));
      expect([round, status, answer.result]).toMatchObject([round, 200, { content: [{ text: '{"a":1}' }] }]);
    }
    const held = await listen(third);
    const other = await listen(second);
    third.signal('SIGKILL');
    await eventually('its stream is lost', () => held.ended);
    expect((await call(at(first))).status).toBe(200);
    expect((await call(at(second))).status).toBe(200);
    expect(other.ended).toBe(false);
    other.close();
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
