import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport as V1Transport,
  type StreamableHTTPClientTransportOptions as V1Options,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { CLIENT_CALLBACK, createOAuthUser, type OAuthUser } from './oauthUser.ts';
import { startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { startEverything, type ReferenceServer } from './referenceServers.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const info = { name: 'client', version: '1.0.0' };

/** As much of a client as both versions of the SDK have. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: object }): Promise<unknown>;
  close(): Promise<void>;
}

describe('MCP clients', () => {
  let everything: ReferenceServer;
  let overheard: ScriptedHttpServer;
  let gateway: OpenIdGateway;
  let endpoint: URL;
  /** As it was registered beforehand. */
  const registered = () => ({ client_id: 'mcp-client', issuer: gateway.idp.issuer });

  beforeAll(async () => {
    everything = await startEverything('streamableHttp');
    overheard = await scriptedHttpServer({ era: 'modern', tools: [{ name: 'echo' }] });
    gateway = await startOpenIdGateway({
      users: [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }],
      clients: [{ id: 'mcp-client', redirectUris: [CLIENT_CALLBACK] }],
      hasRegistration: true,
      variables: { OPENID_MCP_SCOPE: 'access_as_user' },
      yaml: renderYaml({
        everything: httpDefinition(everything.url),
        overheard: httpDefinition(overheard.url),
      }),
    });
    // Under the name that it has for everybody: what a token is issued for is that.
    endpoint = new URL('/mcp', gateway.url.replace('127.0.0.1', 'localhost'));
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await overheard.close();
    await everything.stop();
  });

  /** With the first version of the SDK, once its user has signed in. */
  async function v1(user: OAuthUser): Promise<AnyClient> {
    const authProvider = user as unknown as NonNullable<V1Options['authProvider']>;
    const first = new V1Transport(endpoint, { authProvider });
    await expect(new V1Client(info).connect(first as never)).rejects.toThrow('Unauthorized');
    await first.finishAuth((await user.giveConsent()).get('code') ?? '');
    const client = new V1Client(info);
    await client.connect(new V1Transport(endpoint, { authProvider }));
    return client as unknown as AnyClient;
  }

  /** With the second one, in either era. */
  async function v2(user: OAuthUser, mode: 'legacy' | { pin: string }, address = endpoint): Promise<Client> {
    const create = () => new Client(info, { versionNegotiation: { mode } });
    const first = new StreamableHTTPClientTransport(address, { authProvider: user });
    await expect(create().connect(first)).rejects.toThrow(UnauthorizedError);
    await first.finishAuth(await user.giveConsent());
    const client = create();
    await client.connect(new StreamableHTTPClientTransport(address, { authProvider: user }));
    return client;
  }

  async function uses(client: AnyClient): Promise<void> {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'overheard__echo']));
    for (const name of ['everything__echo', 'overheard__echo']) {
      const result = await client.callTool({ name, arguments: { message: 'hello' } });
      expect(JSON.stringify(result)).toContain('hello');
    }
    await client.close();
  }

  test('of the first SDK, with a client that is known to the provider', async () => {
    const ada = createOAuthUser('u-ada', registered());
    await uses(await v1(ada));
    expect(ada.authorizationCount()).toBe(1);
    const { aud, scope } = decodeJwt(ada.issuedTokens()?.access_token ?? '');
    expect([aud, scope]).toEqual([endpoint.href, 'access_as_user']);
  });

  test('of the second SDK, in both eras', async () => {
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const ada = createOAuthUser('u-ada', registered());
      const client = await v2(ada, mode);
      expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern');
      await uses(client as unknown as AnyClient);
    }
  });

  test('clients that search sign in for the endpoint, in both eras', async () => {
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const ada = createOAuthUser('u-ada', registered());
      const client = await v2(ada, mode, new URL('?tools=search', endpoint));
      expect(decodeJwt(ada.issuedTokens()?.access_token ?? '').aud).toBe(endpoint.href);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
      // The SDK checks what comes back against the schema of the list.
      const found = await client.callTool({ name: 'search_tools', arguments: { query: 'echo a message' } });
      const { tools } = found.structuredContent as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toContain('everything__echo');
      const wanted = { name: 'everything__echo', arguments: { message: 'hello' } };
      expect(JSON.stringify(await client.callTool({ name: 'call_tool', arguments: wanted }))).toContain(
        'hello',
      );
      await client.close();
    }
  });

  test('that register themselves at the provider', async () => {
    await uses(await v1(createOAuthUser('u-ada')));
  });

  test('no server hears a token that a client presented', async () => {
    const ada = createOAuthUser('u-ada', registered());
    await uses(await v1(ada));
    const token = ada.issuedTokens()?.access_token ?? '';
    const recordedText = JSON.stringify(overheard.requests);
    expect(recordedText).toContain('hello');
    expect(token).not.toBe('');
    expect(recordedText).not.toContain(token);
    expect(recordedText.toLowerCase()).not.toContain('authorization');
  });
});
