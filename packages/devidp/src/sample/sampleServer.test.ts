import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  closeExchangeRigs,
  createExchangeRig,
  mail,
  TYPES,
  type ExchangeRig,
} from '../../test/exchangeRig.ts';
import { adaUser, bobUser } from '../../test/idpRig.ts';
import {
  type SampleServer,
  type SampleServerOptions,
  createSampleServer,
  hashHeader,
} from './createSampleServer.ts';

let rig: ExchangeRig;
let server: SampleServer;
const clients: Client[] = [];
const servers: SampleServer[] = [];
beforeAll(async () => void (rig = await createExchangeRig()));
beforeEach(async () => {
  server = await start({
    ...{ isProduction: false, idp: rig.idp, audience: mail.audience, scopes: ['read'] },
    https: { ca: rig.ca },
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const each of servers.splice(0)) await each.close();
});
afterAll(closeExchangeRigs);

async function start(options: SampleServerOptions): Promise<SampleServer> {
  const started = await createSampleServer(options);
  servers.push(started);
  return started;
}

/** As any client does: with a token for each request. */
async function connect(token: () => string, url = server.url) {
  const fetch: typeof globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token()}`);
    return rig.fetch(input, { ...init, headers });
  };
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch });
  clients.push(client);
  await client.connect(transport);
  return { client, transport };
}
const forUser = async (user: string) =>
  (await rig.requestObo({ assertion: rig.entra.tokens.mint({ user }) })).body.access_token;
const post = (headers: Record<string, string>) =>
  rig.fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
const bearer = (token: string) => post({ authorization: `Bearer ${token}` });

describe('a sample server', () => {
  test('says whose token it saw', async () => {
    const token = await forUser(adaUser.id);
    const { client } = await connect(() => token);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami', 'echo']);
    expect(await client.callTool({ name: 'whoami' })).toEqual({
      content: [{ type: 'text', text: 'You are Ada (u-ada). The token is for aud-of-mail: read send.' }],
      structuredContent: {
        ...{ name: adaUser.name, subject: adaUser.id, username: adaUser.email, scopes: ['read', 'send'] },
        ...{ audience: mail.audience, issuer: rig.entra.issuer, client: 'obo' },
      },
    });
    const echoed = await client.callTool({ name: 'echo', arguments: { text: 'héllo' } });
    expect(echoed.content).toEqual([{ type: 'text', text: 'héllo' }]);
    expect(server.callCount).toBe(2);
    expect((await client.callTool({ name: 'nothing' })).isError).toBe(true);
  });

  test('says who acts, and takes the token of each request', async () => {
    const first = await forUser(adaUser.id);
    const actor_token = rig.idp.tokens.mintAppOnly({ client: 'robot' });
    const { body } = await rig.requestExchange({ actor_token, actor_token_type: TYPES.access });
    let token = first;
    const { client } = await connect(() => token);
    expect((await client.callTool({ name: 'whoami' })).structuredContent).not.toHaveProperty('actor');
    token = body.access_token;
    expect((await client.callTool({ name: 'whoami' })).structuredContent).toMatchObject({
      ...{ actor: 'robot', issuer: rig.idp.issuer },
    });
    expect(server.credentials.find(body.access_token)!.methods).toMatchObject({ POST: 1 });
  });

  test('lets nobody in whose token is not for it', async () => {
    const { mint, createUnknownKey: unknownKey } = rig.entra.tokens;
    const good = { aud: mail.audience, scp: 'read' };
    expect((await bearer(mint({ claims: good }))).status).toBe(400);
    const wrong = [
      mint({ claims: { ...good, aud: 'api://other' } }),
      mint({ claims: { ...good, aud: 'api://obo' } }),
      mint({ claims: { ...good, iss: 'https://elsewhere.example' } }),
      mint({ claims: good, lifetimeSeconds: -1 }),
      mint({ claims: good, key: await unknownKey() }),
      rig.entra.tokens.mintUnsigned({ claims: good }),
      rig.entra.tokens.mintWithPublicKeyAsSecret({ claims: good }),
      'x',
    ];
    for (const token of wrong) {
      const response = await bearer(token);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Bearer error="invalid_token"');
    }
    const narrow = await bearer(mint({ claims: { ...good, scp: 'send' } }));
    expect([narrow.status, narrow.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="read"'),
    ]);
    expect(server.callCount).toBe(0);
  });

  test('says where tokens come from', async () => {
    const response = await post({});
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
    expect(await (await rig.fetch(metadata)).json()).toMatchObject({
      ...{ resource: server.url, authorization_servers: rig.idp.issuers, scopes_supported: ['read'] },
    });
    expect((await rig.fetch(server.url.replace('/mcp', '/other'))).status).toBe(404);
  });

  test('refuses on command', async () => {
    const token = await forUser(adaUser.id);
    server.rejectTokens(2);
    expect([(await bearer(token)).status, (await bearer(token)).status]).toEqual([401, 401]);
    expect((await bearer(token)).status).toBe(400);
    server.rejectTokens();
    for (let turn = 0; turn < 3; turn += 1) expect((await bearer(token)).status).toBe(401);
    server.acceptTokens();
    expect((await bearer(token)).status).toBe(400);
    expect(server.credentials.find(token)).toMatchObject({ useCount: 7, acceptedCount: 2 });
  });

  test('demands claims that the provider can give', async () => {
    const challenge = JSON.stringify({ access_token: { acrs: { essential: true, value: 'c1' } } });
    server.requireClaims(challenge);
    const response = await bearer(await forUser(adaUser.id));
    const header = response.headers.get('www-authenticate')!;
    const [, encoded] = /error="insufficient_claims", claims="([^"]+)"/.exec(header)!;
    const claims = Buffer.from(encoded!, 'base64').toString();
    expect([response.status, claims]).toEqual([401, challenge]);
    expect((await rig.requestObo({ claims })).body.error).toBe('interaction_required');
    const assertion = rig.entra.tokens.mint({ claims: { acrs: ['c1'] } });
    const token = (await rig.requestObo({ claims, assertion })).body.access_token;
    const { client } = await connect(() => token);
    expect((await client.callTool({ name: 'whoami' })).structuredContent).toMatchObject({
      subject: adaUser.id,
    });
  });

  test('keeps a session for whose token began it', async () => {
    const tokens = { ada: await forUser(adaUser.id), bob: await forUser(bobUser.id) };
    const { transport } = await connect(() => tokens.ada);
    const session = { 'mcp-session-id': transport.sessionId! };
    expect((await post({ ...session, authorization: `Bearer ${tokens.bob}` })).status).toBe(403);
    const fresh = await forUser(adaUser.id);
    expect((await post({ ...session, authorization: `Bearer ${fresh}` })).status).toBe(200);
  });

  test('has a stream, and ends with DELETE', async () => {
    const token = await forUser(adaUser.id);
    const { client, transport } = await connect(() => token);
    let changed = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changed += 1));
    await eventually('the stream', () => server.streamCount === 1);
    await server.notifyToolsChanged();
    await eventually('the news', () => changed === 1);
    await transport.terminateSession();
    expect(server.sessionCount).toBe(0);
    expect(server.credentials.find(token)!.methods).toMatchObject({ GET: 1, DELETE: 1 });
    const other = await connect(() => token);
    await server.dropSessions();
    const staleHeaders = { 'mcp-session-id': other.transport.sessionId!, authorization: `Bearer ${token}` };
    expect((await post(staleHeaders)).status).toBe(404);
  });

  test('remembers what it was shown, and keeps none of it', async () => {
    const token = await forUser(adaUser.id);
    await post({});
    await bearer(token);
    await bearer(token);
    await post({ authorization: 'Basic eDp5' });
    expect(server.credentials.all()).toEqual([
      {
        hash: '',
        subject: undefined,
        audience: undefined,
        useCount: 1,
        acceptedCount: 0,
        methods: { POST: 1 },
      },
      {
        ...{ hash: hashHeader(`Bearer ${token}`), subject: adaUser.id, audience: mail.audience },
        ...{ useCount: 2, acceptedCount: 2, methods: { POST: 2 } },
      },
      expect.objectContaining({ hash: hashHeader('Basic eDp5'), subject: undefined, acceptedCount: 0 }),
    ]);
    expect(JSON.stringify(server.credentials.all())).not.toContain(token.split('.')[2]);
    server.credentials.clear();
    expect(server.credentials.all()).toEqual([]);
  });

  test('answers this machine only, over plain http too', async () => {
    const options = { idp: rig.idp, audience: mail.audience };
    await expect(start({ ...options, isProduction: true })).rejects.toThrow('production');
    await expect(start({ ...options, isProduction: false, host: '0.0.0.0' })).rejects.toThrow('loopback');
    const plain = await start({ ...options, isProduction: false });
    const token = await forUser(bobUser.id);
    const { client } = await connect(() => token, plain.url);
    expect((await client.callTool({ name: 'whoami' })).structuredContent).toMatchObject({
      name: bobUser.name,
    });
    const renamed = await rig.fetch(plain.url, { headers: { host: 'evil.example' } });
    expect(renamed.status).toBe(421);
  });
});
