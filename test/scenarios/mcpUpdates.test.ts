import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { legacyClient, modernHeaders, modernMeta, wireClient, type WireClient } from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { everything } from './scriptedYaml.ts';
import { http, yamlWith } from './serverYaml.ts';

const UPDATED = 'notifications/resources/updated';
const document = (name: string) => `demo://resource/static/document/${name}.md`;

async function listen(client: WireClient, resourceSubscriptions: string[]) {
  const params = { notifications: { resourceSubscriptions }, _meta: modernMeta() };
  const closing = new AbortController();
  const response = await client.post(
    { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params },
    modernHeaders('subscriptions/listen', {}),
    { signal: closing.signal },
  );
  const stream = readStream(response, closing);
  await eventually('it is acknowledged', () => stream.messages.length > 0);
  return stream;
}

const acknowledged = ({ messages }: Awaited<ReturnType<typeof listen>>) =>
  messages[0]?.params?.['notifications'];

describe('updated resources', () => {
  const scene = createScene();

  test('of one child process reach all who subscribed them', async () => {
    const sample = { type: 'stdio', command: process.execPath, args: [everything, 'stdio'] };
    const people = await scene.begin(yamlWith({ sample }), ['Ada', 'Bob']);
    const [ada, bob] = people as [Person, Person];
    const session = await legacyClient(await wireClient(ada, scene.gateway.url));
    const adas = readStream(await session.send('GET', { accept: 'text/event-stream' }));
    const asked = await session.request('resources/subscribe', { uri: document('features') });
    expect(asked.answer).toMatchObject({ result: {} });
    const client = await wireClient(bob, scene.gateway.url);
    const [bobs, others] = [
      await listen(client, [document('features'), document('startup')]),
      await listen(client, [document('startup')]),
    ];
    expect(acknowledged(bobs)).toEqual({
      resourceSubscriptions: [document('features'), document('startup')],
    });
    const told = (stream: typeof adas) =>
      new Set(
        stream.messages.filter(({ method }) => method === UPDATED).map(({ params }) => params?.['uri']),
      );
    // The sample server tells at once, and then every five seconds.
    await session.request('tools/call', { name: 'sample__toggle-subscriber-updates', arguments: {} });
    await eventually('Bob is told', () => told(bobs).size === 2);
    await eventually('and Ada', () => told(adas).size === 1, 15_000);
    expect([...told(adas)]).toEqual([document('features')]);
    expect([...told(others)]).toEqual([document('startup')]);
    for (const stream of [bobs, others]) stream.close();
  });

  test('that a server does not tell of are not promised', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const methods = { 'resources/list': () => ({ resources: [{ uri: 'x:1', name: 'one' }] }) };
      const upstream = await scene.serve({
        ...{ era, methods, getStream: true },
        capabilities: { tools: {}, resources: { listChanged: true } },
      });
      const [ada] = (await scene.begin(yamlWith({ files: http(upstream.url) }))) as [Person];
      const client = await wireClient(ada, scene.gateway.url);
      const { answer } = await (await legacyClient(client)).request('resources/subscribe', { uri: 'x:1' });
      expect(answer.error).toMatchObject({ code: -32002, data: { code: 'MCP_RESOURCE_NOT_FOUND' } });
      expect(acknowledged(await listen(client, ['x:1']))).toEqual({});
    }
  });
});
