import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createKeyClient,
  atReplica,
  createLegacyClient,
  createWireClient,
  type LegacyClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const tools = [{ name: 'echo' }];
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('sessions at the MCP endpoint', () => {
  const rig = createGatewayRig();

  async function begin(names: string[] = ['Ada']): Promise<TestUser[]> {
    const upstream = await rig.startServer({ era: 'legacy', tools });
    return rig.start(
      renderYaml({ files: httpDefinition(upstream.url), other: httpDefinition(upstream.url) }),
      names,
    );
  }

  /** A client whose session another one tries to use. */
  const withSession = (client: LegacyClient, session: string) =>
    client.post(list, { 'mcp-session-id': session });

  test('and one that is none is told to begin anew', async () => {
    const [ada] = (await begin()) as [TestUser];
    const wire = await createWireClient(ada, rig.gateway.url);
    expect((await wire.post(list)).status).toBe(400);
    expect((await wire.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(400);
    for (const made of ['x', 'v1.00000000.AAAAAAAAAAAAAAAA.AAAA', 'x'.repeat(5_000)]) {
      expect([made.length, (await wire.post(list, { 'mcp-session-id': made })).status]).toEqual([
        made.length,
        404,
      ]);
    }
    const client = await createLegacyClient(wire);
    for (const version of ['2025-06-18', '1999-01-01', 'x']) {
      expect((await client.post(list, { 'mcp-protocol-version': version })).status).toBe(400);
    }
    for (const method of ['GET', 'DELETE']) {
      const without = await wire.send(method);
      expect([without.status, without.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('another user’s does not open, nor one of another endpoint', async () => {
    const [ada, bob] = (await begin(['Ada', 'Bob'])) as [TestUser, TestUser];
    const adas = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const bobs = await createLegacyClient(await createWireClient(bob, rig.gateway.url));
    expect((await withSession(adas, adas.session)).status).toBe(200);
    // Also while the session is known here.
    expect((await withSession(bobs, adas.session)).status).toBe(404);
    const ended = await bobs.send('DELETE', { 'mcp-session-id': adas.session });
    expect(ended.status).toBe(404);
    expect((await bobs.send('GET', { 'mcp-session-id': adas.session })).status).toBe(404);
    const one = await createLegacyClient(await createWireClient(ada, rig.gateway.url, '/mcp/files'));
    expect((await withSession(adas, one.session)).status).toBe(404);
    expect((await withSession(one, adas.session)).status).toBe(404);
    expect((await withSession(adas, adas.session)).status).toBe(200);
    const [, bobThere] = (await rig.startReplica([ada, bob])) as [TestUser, TestUser];
    const bobsThere = await createWireClient(bobThere, await urlOf(bobThere));
    expect((await bobsThere.post(list, { 'mcp-session-id': adas.session })).status).toBe(404);
  });

  test('it hangs on the user, not on what they present', async () => {
    const [ada] = (await begin()) as [TestUser];
    const first = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const second = await createWireClient(ada, rig.gateway.url);
    expect(second.headers['authorization']).not.toBe(first.headers['authorization']);
    expect((await second.post(list, { 'mcp-session-id': first.session })).status).toBe(200);
    const [adaThere] = (await rig.startReplica([ada])) as [TestUser];
    const third = await createWireClient(adaThere, await urlOf(adaThere));
    expect((await third.post(list, { 'mcp-session-id': first.session })).status).toBe(200);
  });

  test('every request of it may land elsewhere', async () => {
    const [ada] = (await begin()) as [TestUser];
    const here = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const [adaThere] = (await rig.startReplica([ada])) as [TestUser];
    const there = atReplica(here, await urlOf(adaThere));
    for (const client of [there, here, there]) {
      const { message } = await client.request('tools/call', { name: 'files__echo', arguments: { a: 1 } });
      expect(message.result).toMatchObject({ content: [{ text: '{"a":1}' }] });
    }
  });

  test('here at once, elsewhere within two seconds', async () => {
    const [ada] = (await begin()) as [TestUser];
    const here = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const [adaThere] = (await rig.startReplica([ada])) as [TestUser];
    const there = atReplica(here, await urlOf(adaThere));
    expect((await there.request('ping')).status).toBe(200);
    expect((await here.send('DELETE')).status).toBe(204);
    expect((await here.request('ping')).status).toBe(404);
    await eventually(
      'the other replica refuses it',
      async () => (await there.request('ping')).status === 404,
    );
    expect((await here.send('DELETE')).status).toBe(404);
    expect((await there.send('GET')).status).toBe(404);
  });

  test('of two replicas, and the other one ends with the session', async () => {
    const [ada] = (await begin()) as [TestUser];
    const here = await createLegacyClient(await createWireClient(ada, rig.gateway.url));
    const [adaThere] = (await rig.startReplica([ada])) as [TestUser];
    const there = atReplica(here, await urlOf(adaThere));
    const open = async (at: LegacyClient) =>
      readStream(await at.send('GET', { accept: 'text/event-stream' }));
    const first = await open(here);
    const second = await open(there);
    await eventually('the first ends', () => first.isEnded, 4_000);
    const third = await open(here);
    await eventually('the second ends', () => second.isEnded, 4_000);
    expect(third.isEnded).toBe(false);
    expect((await there.send('DELETE')).status).toBe(204);
    await eventually('the third ends with the session', () => third.isEnded, 4_000);
  });

  test('a key without the scope opens nothing', async () => {
    const [ada] = (await begin()) as [TestUser];
    const made = await ada.post('/api/user/keys', { name: 'client', scopes: ['servers'] });
    const { key } = (await made.json()) as { key: string };
    const refused = await createKeyClient(key, rig.gateway.url).post(list);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { jsonrpc: '2.0', id: null, error: { code: -31403, data: { code: 'API_KEY_SCOPE' } } },
    ]);
  });
});

/** Where somebody's gateway is. */
async function urlOf(user: TestUser): Promise<string> {
  return new URL('/', (await user.get('/health')).url).href;
}
