import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createLegacyClient,
  createModernHeaders,
  createModernMeta,
  createWireClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { everythingScript } from './scriptedYaml.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const UPDATED = 'notifications/resources/updated';
const document = (name: string) => `demo://resource/static/document/${name}.md`;

async function listen(client: WireClient, resourceSubscriptions: string[]) {
  const params = { notifications: { resourceSubscriptions }, _meta: createModernMeta() };
  const closing = new AbortController();
  const response = await client.post(
    { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params },
    createModernHeaders('subscriptions/listen', {}),
    { signal: closing.signal },
  );
  const stream = readStream(response, closing);
  await eventually('it is acknowledged', () => stream.messages.length > 0);
  return stream;
}

const acknowledged = ({ messages }: Awaited<ReturnType<typeof listen>>) =>
  messages[0]?.params?.['notifications'];

describe('updated resources', () => {
  const rig = createGatewayRig();

  test('of one child process reach all who subscribed them', async () => {
    const sample = { type: 'stdio', command: process.execPath, args: [everythingScript, 'stdio'] };
    const users = await rig.start(renderYaml({ sample }), ['Ada', 'Bob']);
    const [ada, bob] = users as [TestUser, TestUser];
    const session = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const adas = readStream(await session.send('GET', { accept: 'text/event-stream' }));
    const response = await session.request('resources/subscribe', { uri: document('features') });
    expect(response.message).toMatchObject({ result: {} });
    const client = await createWireClient(bob, rig.gateway.url);
    const [bobs, others] = [
      await listen(client, [document('features'), document('startup')]),
      await listen(client, [document('startup')]),
    ];
    expect(acknowledged(bobs)).toEqual({
      resourceSubscriptions: [document('features'), document('startup')],
    });
    const listUpdates = (stream: typeof adas) =>
      new Set(
        stream.messages.filter(({ method }) => method === UPDATED).map(({ params }) => params?.['uri']),
      );
    // The sample server tells at once, and then every five seconds.
    await session.request('tools/call', { name: 'sample__toggle-subscriber-updates', arguments: {} });
    await eventually('Bob is told', () => listUpdates(bobs).size === 2);
    await eventually('and Ada', () => listUpdates(adas).size === 1, 15_000);
    expect([...listUpdates(adas)]).toEqual([document('features')]);
    expect([...listUpdates(others)]).toEqual([document('startup')]);
    for (const stream of [bobs, others]) stream.close();
  });

  test('that a server does not tell of are not promised', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const methods = { 'resources/list': () => ({ resources: [{ uri: 'x:1', name: 'one' }] }) };
      const upstream = await rig.startServer({
        ...{ era, methods, getStream: true },
        capabilities: { tools: {}, resources: { listChanged: true } },
      });
      const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
      const client = await createWireClient(ada, rig.gateway.url);
      const { message } = await (
        await createLegacyClient(client)
      ).request('resources/subscribe', { uri: 'x:1' });
      expect(message.error).toMatchObject({ code: -32002, data: { code: 'MCP_RESOURCE_NOT_FOUND' } });
      expect(acknowledged(await listen(client, ['x:1']))).toEqual({});
    }
  });
});
