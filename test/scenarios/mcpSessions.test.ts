import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { clientWith, elsewhere, legacyClient, wireClient, type LegacyClient } from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const tools = [{ name: 'echo' }];
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('sessions at the MCP endpoint', () => {
  const scene = createScene();

  async function begin(names: string[] = ['Ada']): Promise<Person[]> {
    const upstream = await scene.serve({ era: 'legacy', tools });
    return scene.begin(yamlWith({ files: http(upstream.url), other: http(upstream.url) }), names);
  }

  /** A client whose session another one tries to use. */
  const withSession = (client: LegacyClient, session: string) =>
    client.post(list, { 'mcp-session-id': session });

  test('and one that is none is told to begin anew', async () => {
    const [ada] = (await begin()) as [Person];
    const wire = await wireClient(ada, scene.gateway.url);
    expect((await wire.post(list)).status).toBe(400);
    expect((await wire.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(400);
    for (const made of ['x', 'v1.00000000.AAAAAAAAAAAAAAAA.AAAA', 'x'.repeat(5_000)]) {
      expect([made.length, (await wire.post(list, { 'mcp-session-id': made })).status]).toEqual([
        made.length,
        404,
      ]);
    }
    const client = await legacyClient(wire);
    for (const version of ['2025-06-18', '1999-01-01', 'x']) {
      expect((await client.post(list, { 'mcp-protocol-version': version })).status).toBe(400);
    }
    for (const method of ['GET', 'DELETE']) {
      const without = await wire.send(method);
      expect([without.status, without.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('another user’s does not open, nor one of another endpoint', async () => {
    const [ada, bob] = (await begin(['Ada', 'Bob'])) as [Person, Person];
    const adas = await legacyClient(await wireClient(ada, scene.gateway.url));
    const bobs = await legacyClient(await wireClient(bob, scene.gateway.url));
    expect((await withSession(adas, adas.session)).status).toBe(200);
    // Also while the session is known here.
    expect((await withSession(bobs, adas.session)).status).toBe(404);
    const ended = await bobs.send('DELETE', { 'mcp-session-id': adas.session });
    expect(ended.status).toBe(404);
    expect((await bobs.send('GET', { 'mcp-session-id': adas.session })).status).toBe(404);
    const one = await legacyClient(await wireClient(ada, scene.gateway.url, '/mcp/files'));
    expect((await withSession(adas, one.session)).status).toBe(404);
    expect((await withSession(one, adas.session)).status).toBe(404);
    expect((await withSession(adas, adas.session)).status).toBe(200);
    const [, bobThere] = (await scene.beside([ada, bob])) as [Person, Person];
    const bobsThere = await wireClient(bobThere, await urlOf(bobThere));
    expect((await bobsThere.post(list, { 'mcp-session-id': adas.session })).status).toBe(404);
  });

  test('it hangs on the user, not on what they present', async () => {
    const [ada] = (await begin()) as [Person];
    const first = await legacyClient(await wireClient(ada, scene.gateway.url));
    const second = await wireClient(ada, scene.gateway.url);
    expect(second.headers['authorization']).not.toBe(first.headers['authorization']);
    expect((await second.post(list, { 'mcp-session-id': first.session })).status).toBe(200);
    const [adaThere] = (await scene.beside([ada])) as [Person];
    const third = await wireClient(adaThere, await urlOf(adaThere));
    expect((await third.post(list, { 'mcp-session-id': first.session })).status).toBe(200);
  });

  test('every request of it may land elsewhere', async () => {
    const [ada] = (await begin()) as [Person];
    const here = await legacyClient(await wireClient(ada, scene.gateway.url));
    const [adaThere] = (await scene.beside([ada])) as [Person];
    const there = elsewhere(here, await urlOf(adaThere));
    for (const client of [there, here, there]) {
      const { answer } = await client.request('tools/call', { name: 'files__echo', arguments: { a: 1 } });
      expect(answer.result).toMatchObject({ content: [{ text: '{"a":1}' }] });
    }
  });

  test('here at once, elsewhere within two seconds', async () => {
    const [ada] = (await begin()) as [Person];
    const here = await legacyClient(await wireClient(ada, scene.gateway.url));
    const [adaThere] = (await scene.beside([ada])) as [Person];
    const there = elsewhere(here, await urlOf(adaThere));
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
    const [ada] = (await begin()) as [Person];
    const here = await legacyClient(await wireClient(ada, scene.gateway.url));
    const [adaThere] = (await scene.beside([ada])) as [Person];
    const there = elsewhere(here, await urlOf(adaThere));
    const open = async (at: LegacyClient) =>
      readStream(await at.send('GET', { accept: 'text/event-stream' }));
    const first = await open(here);
    const second = await open(there);
    await eventually('the first ends', () => first.ended, 4_000);
    const third = await open(here);
    await eventually('the second ends', () => second.ended, 4_000);
    expect(third.ended).toBe(false);
    expect((await there.send('DELETE')).status).toBe(204);
    await eventually('the third ends with the session', () => third.ended, 4_000);
  });

  test('a key without the scope opens nothing', async () => {
    const [ada] = (await begin()) as [Person];
    const made = await ada.post('/api/user/keys', { name: 'client', scopes: ['servers'] });
    const { key } = (await made.json()) as { key: string };
    const refused = await clientWith(key, scene.gateway.url).post(list);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { jsonrpc: '2.0', id: null, error: { code: -31403, data: { code: 'API_KEY_SCOPE' } } },
    ]);
  });
});

/** Where somebody's gateway is. */
async function urlOf(person: Person): Promise<string> {
  return new URL('/', (await person.get('/health')).url).href;
}
