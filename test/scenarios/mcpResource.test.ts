import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { GATEWAY_AUDIENCE, startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';

const METADATA = '/.well-known/oauth-protected-resource';

describe('the documents about the MCP endpoints', () => {
  let gateway: OpenIdGateway;
  let plainGateway: InProcessGateway;

  beforeAll(async () => {
    const users = [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }];
    gateway = await startOpenIdGateway({
      users,
      variables: { OPENID_MCP_SCOPE: 'access_as_user' },
    });
    plainGateway = await startInProcess();
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await plainGateway.close();
  });

  /** As the outside knows it. */
  const base = () => gateway.url.replace('127.0.0.1', 'localhost');
  const read = async (path: string) => {
    const response = await fetch(gateway.url + METADATA + path);
    return { status: response.status, document: (await response.json()) as Record<string, unknown> };
  };

  test('name the endpoint, and who issues tokens for it', async () => {
    for (const path of ['', '/mcp', '/mcp/everything']) {
      const { status, document } = await read(path);
      expect([status, document]).toEqual([
        200,
        {
          resource: base() + path,
          authorization_servers: [gateway.idp.issuer],
          scopes_supported: ['access_as_user'],
          bearer_methods_supported: ['header'],
          resource_name: 'Behalf',
        },
      ]);
    }
    // A page that is an MCP client may read it.
    const { headers } = await fetch(`${gateway.url}${METADATA}/mcp`);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('tell nothing of which servers there are', async () => {
    const [known, unknown] = await Promise.all([read('/mcp/everything'), read('/mcp/nothing')]);
    expect({ ...unknown.document, resource: '' }).toEqual({ ...known.document, resource: '' });
    expect(unknown.status).toBe(known.status);
    expect((await read('/mcp/a%2F%22b')).document['resource']).toBe(`${base()}/mcp/a%2F%22b`);
  });

  test('a token for an endpoint opens no other door', async () => {
    const status = async (path: string, aud: unknown) => {
      const token = gateway.idp.tokens.mint({ user: 'u-ada', claims: { aud } });
      return (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect(await status('/api/user', GATEWAY_AUDIENCE)).toBe(200);
    expect(await status('/api/user', `${base()}/mcp`)).toBe(401);
    expect(await status('/api/user', base())).toBe(401);
    expect(await status('/api/user', [`${base()}/mcp`, GATEWAY_AUDIENCE])).toBe(200);
  });

  test('whatever the query of the address', async () => {
    for (const path of ['/mcp', '/mcp/everything'])
      expect((await read(`${path}?tools=search`)).document).toEqual((await read(path)).document);
    const post = (path: string, headers: Record<string, string> = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    const refused = await post('/mcp?tools=search');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining(`resource_metadata="${base()}${METADATA}/mcp"`),
    ]);
    const status = async (path: string, aud: string) => {
      const token = gateway.idp.tokens.mint({ user: 'u-ada', claims: { aud, scope: 'access_as_user' } });
      return (await post(path, { authorization: `Bearer ${token}` })).status;
    };
    // Let in, and told that this is no message.
    expect(await status('/mcp?tools=search', `${base()}/mcp`)).toBe(400);
    expect(await status('/mcp/everything?tools=search', `${base()}/mcp/everything`)).toBe(400);
    expect(await status('/mcp?tools=search', `${base()}/mcp/everything`)).toBe(401);
    expect(await status('/mcp?tools=search', `${base()}/mcp?tools=search`)).toBe(401);
  });

  test('are not there where nobody issues tokens', async () => {
    for (const path of ['', '/mcp', '/mcp/everything']) {
      expect((await fetch(plainGateway.url + METADATA + path)).status).toBe(404);
    }
  });
});
