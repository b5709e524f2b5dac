import {
  eventually,
  guardedMcpServer,
  startAuthorizationServer,
  type ScriptedOptions,
} from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createModernHeaders,
  createModernMeta,
  sendModern,
  createWireClient,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { everythingScript } from './scriptedYaml.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const CHANGED = 'notifications/tools/list_changed';
const announcing = { tools: { listChanged: true }, prompts: {}, resources: { listChanged: false } };
const methods = {
  'prompts/list': () => ({ prompts: [] }),
  'resources/list': () => ({ resources: [] }),
};

async function ttlOf(client: WireClient, method: string) {
  return (await sendModern(client, method)).message.result?.['ttlMs'];
}

describe('for how long a list may be kept', () => {
  const rig = createGatewayRig();

  async function begin(options: Partial<ScriptedOptions>, more: Record<string, object> = {}) {
    const upstream = await rig.startServer({
      ...{ era: 'legacy', tools: [{ name: 'echo' }], capabilities: announcing, methods },
      ...options,
    });
    const yaml = renderYaml({ files: httpDefinition(upstream.url), ...more });
    const [ada] = (await rig.start(yaml)) as [TestUser];
    return { upstream, client: await createWireClient(ada, rig.gateway.url) };
  }

  test('a minute while its server announces changes, and is heard', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { upstream, client } = await begin({ era, getStream: true });
      await eventually('it is heard', async () => (await ttlOf(client, 'tools/list')) === 60_000);
      // Those it does not announce.
      for (const method of ['prompts/list', 'resources/list', 'resources/templates/list'])
        expect([method, await ttlOf(client, method)]).toEqual([method, 0]);
      const isStream = era === 'legacy' ? 'GET' : 'POST';
      upstream.change({
        respond: ({ verb, message }) =>
          verb === isStream && (message?.method ?? 'subscriptions/listen') === 'subscriptions/listen'
            ? { status: 503 }
            : undefined,
      });
      upstream.endStreams();
      await eventually('it is not heard', async () => (await ttlOf(client, 'tools/list')) === 0);
    }
  });

  test('not at all where there is no stream', async () => {
    const { upstream, client } = await begin({ getStream: false });
    await eventually('it was asked for', () => upstream.requests.some(({ verb }) => verb === 'GET'));
    expect(await ttlOf(client, 'tools/list')).toBe(0);
  });

  test('or where one of several is not heard', async () => {
    const sample = { type: 'stdio', command: process.execPath, args: [everythingScript, 'stdio'] };
    const quiet = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }], getStream: true });
    const { client } = await begin({ era: 'modern' }, { sample });
    // Over a channel it is heard as long as that is open.
    await eventually('both are heard', async () => (await ttlOf(client, 'tools/list')) === 60_000);
    const all = renderYaml({ quiet: httpDefinition(quiet.url), sample });
    await rig.gateway.reload(all);
    await eventually('the list is of these', async () => {
      const { result } = (await sendModern(client, 'tools/list')).message;
      return (result?.['tools'] as { name: string }[]).some(({ name }) => name === 'quiet__echo');
    });
    expect(await ttlOf(client, 'tools/list')).toBe(0);
  });

  test('also of a server that takes a token of ours with every request', async () => {
    const as = await startAuthorizationServer({
      clients: [{ clientId: 'app', authMethod: 'client_secret_basic', secret: 'app-secret' }],
    });
    for (const era of ['modern', 'legacy'] as const) {
      const mcp = await guardedMcpServer({
        ...{ era, authorizationServer: as, tools: [{ name: 'echo' }], capabilities: announcing },
        ...{ methods, getStream: true },
      });
      const oauth = {
        ...{ grant: 'client_credentials', issuer: as.issuer },
        ...{ client_id: 'app', client_secret: 'app-secret' },
      };
      const operatorAddresses = [mcp.url, as.issuer].map((url) => new URL(url).host);
      const yaml = renderYaml(
        { stock: httpDefinition(mcp.url, { oauth }) },
        { mcpSettings: { operatorAddresses } },
      );
      const [ada] = (await rig.start(yaml)) as [TestUser];
      const client = await createWireClient(ada, rig.gateway.url);
      await eventually(`${era}: it is heard`, async () => (await ttlOf(client, 'tools/list')) === 60_000);
      const stream = readStream(
        await client.post(
          {
            ...{ jsonrpc: '2.0', id: 's', method: 'subscriptions/listen' },
            params: { notifications: { toolsListChanged: true }, _meta: createModernMeta() },
          },
          createModernHeaders('subscriptions/listen', {}),
        ),
      );
      await eventually('it is acknowledged', () => stream.messages.length === 1);
      mcp.push(CHANGED);
      await eventually('its change is told', () => stream.messages[1]?.method === CHANGED);
      await mcp.close();
    }
    await as.close();
  });
});
