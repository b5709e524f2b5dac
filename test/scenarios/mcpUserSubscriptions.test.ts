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

const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';
const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true } };
const own = { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } };
const ownProcess = {
  ...{ type: 'stdio', command: process.execPath, args: [everythingScript, 'stdio'] },
  env: { OWNER: '{{LIBRECHAT_USER_ID}}' },
};

async function listen(client: WireClient) {
  const params = { notifications: { toolsListChanged: true }, _meta: createModernMeta() };
  const closing = new AbortController();
  const response = await client.post(
    { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params },
    createModernHeaders('subscriptions/listen', {}),
    { signal: closing.signal },
  );
  const stream = readStream(response, closing);
  await eventually('it is acknowledged', () => stream.messages.length > 0);
  const { notifications, _meta } = stream.messages[0]?.params as Record<string, Record<string, unknown>>;
  return { stream, notifications, unheard: _meta?.['behalf/unheard'] };
}

describe('changes at servers of which users have connections of their own', () => {
  const rig = createGatewayRig();
  const serve = () =>
    rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }], capabilities, getStream: true });

  test('are told on the stream of a session, each user theirs', async () => {
    const [first, later] = [await serve(), await serve()];
    const users = await rig.start(renderYaml({ first: httpDefinition(first.url, own) }), ['Ada', 'Bob']);
    const [ada, bob] = users as [TestUser, TestUser];
    const open = async (user: TestUser) => {
      const session = await createLegacyClient(await createWireClient(user, rig.gateway.url));
      const stream = readStream(await session.send('GET', { accept: 'text/event-stream' }));
      return () => stream.messages.map(({ method }) => method);
    };
    const [adas, bobs] = [await open(ada), await open(bob)];
    await eventually('both are followed', () => first.openStreams === 2);
    const of = (user: TestUser) => (headers: Record<string, unknown>) => headers['x-user'] === user.id;
    first.push(TOOLS, {}, of(ada));
    await eventually('Ada is told', () => adas().length === 1);
    first.push(PROMPTS, {}, of(bob));
    await eventually('Bob is told', () => bobs().length === 1);
    expect([adas(), bobs()]).toEqual([[TOOLS], [PROMPTS]]);
    // One that comes while the stream is open is followed too, and one that goes is let go.
    await rig.gateway.reload(renderYaml({ later: httpDefinition(later.url, own) }));
    await eventually('it is followed', () => later.openStreams === 2 && first.openStreams === 0);
    const before = adas().length;
    later.push(TOOLS, {}, of(ada));
    await eventually('Ada is told', () => adas().length > before && adas().at(-1) === TOOLS);
  });

  test('of more than eight, and of child processes, are not promised', async () => {
    const upstream = await serve();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const remote = Object.fromEntries(names.map((name) => [name, httpDefinition(upstream.url, own)]));
    const [ada] = (await rig.start(renderYaml({ ...remote, child: ownProcess }))) as [TestUser];
    const all = await listen(await createWireClient(ada, rig.gateway.url));
    expect([all.notifications, all.unheard]).toEqual([{ toolsListChanged: true }, ['child', 'i', 'j']]);
    await eventually('eight are followed', () => upstream.openStreams === 8);
    const single = await listen(await createWireClient(ada, rig.gateway.url, '/mcp/j'));
    expect([single.notifications, single.unheard]).toEqual([{ toolsListChanged: true }, undefined]);
    const child = await listen(await createWireClient(ada, rig.gateway.url, '/mcp/child'));
    expect([child.notifications, child.unheard]).toEqual([{}, ['child']]);
    await eventually('there is nothing to wait for', () => child.stream.isEnded);
    for (const { stream } of [all, single]) stream.close();
  });
});
