import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { scriptedHttpServer } from '../mcp/scriptedHttpServer.ts';
import { type AuthorizationServerOptions, startAuthorizationServer } from './authorizationServer.ts';
import { guardedMcpServer } from './guardedMcpServer.ts';
import { oauthHash } from './authorizationCore.ts';

const client = { clientId: 'c1', authMethod: 'none' } as const;
const open: { close(): Promise<void> }[] = [];

async function start(options: AuthorizationServerOptions = {}) {
  const server = await startAuthorizationServer({ clients: [client], ...options });
  open.push(server);
  const post = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(server.endpoints.token, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };
  const refresh = (refresh_token: string) =>
    post({ grant_type: 'refresh_token', client_id: 'c1', refresh_token });
  return { server, post, refresh };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe('the authorization server of the testkit', () => {
  test('ends the family of a refresh token that comes twice', async () => {
    const { server, refresh } = await start();
    const first = server.grant({ clientId: 'c1' });
    const second = await refresh(first.refreshToken!);
    expect(second.status).toBe(200);
    expect(server.inspect(second.body['access_token']!)).toBeDefined();
    expect(await refresh(first.refreshToken!)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(server.inspect(second.body['access_token']!)).toBeUndefined();
    expect(await refresh(second.body['refresh_token']!)).toMatchObject({ status: 400 });
    expect(server.counters).toMatchObject({ tokenHits: 3, familyRevocations: 1, reuses: 1, rotations: 1 });
    expect(server.requests[0]).toMatchObject({
      form: { refresh_token: oauthHash(first.refreshToken!) },
      clientAuth: { method: 'none', clientId: 'c1' },
      outcome: 'tokens',
    });
  });

  test('forgives within the grace window, with the same successor or an access token alone', async () => {
    let now = 0;
    const { server, refresh } = await start({ graceMs: 5_000, now: () => now });
    const first = server.grant({ clientId: 'c1' });
    const second = await refresh(first.refreshToken!);
    now = 4_999;
    const again = await refresh(first.refreshToken!);
    expect(again.body['refresh_token']).toBe(second.body['refresh_token']);
    server.change({ inGrace: 'access-only' });
    expect((await refresh(first.refreshToken!)).body).not.toHaveProperty('refresh_token');
    now = 5_000;
    expect((await refresh(first.refreshToken!)).status).toBe(400);
    expect(server.counters.familyRevocations).toBe(1);
  });

  test('rotates and drops the answer, holds it, or answers by script', async () => {
    const { server, refresh } = await start({ dropAnswers: 1 });
    const { refreshToken } = server.grant({ clientId: 'c1' });
    await expect(refresh(refreshToken!)).rejects.toThrow();
    expect(server.isCurrent(refreshToken!)).toBe(false);
    server.reset();
    server.respondNext('token', { status: 503, headers: { 'retry-after': '7' }, body: {} });
    expect((await refresh('whatever')).status).toBe(503);
    const hold = server.hold('token', 'after');
    const waiting = refresh(server.grant({ clientId: 'c1' }).refreshToken!);
    await hold.arrived();
    expect(server.counters.rotations).toBe(1);
    hold.release();
    expect((await waiting).status).toBe(200);
  });

  test('leads through a consent with PKCE, state and iss', async () => {
    const { server, post } = await start();
    const verifier = randomUUID() + randomUUID();
    const redirect_uri = 'http://127.0.0.1:1/callback';
    const url = new URL(server.endpoints.authorization);
    const query = {
      response_type: 'code',
      client_id: 'c1',
      redirect_uri,
      state: 's1',
      scope: 'openid mcp:read',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: 'http://127.0.0.1:2/mcp',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await fetch(url, { redirect: 'manual' });
    const back = new URL(response.headers.get('location')!);
    expect(back.searchParams.get('state')).toBe('s1');
    expect(back.searchParams.get('iss')).toBe(server.issuer);
    const exchange = {
      grant_type: 'authorization_code',
      client_id: 'c1',
      redirect_uri,
      code: back.searchParams.get('code')!,
      resource: query.resource,
    };
    expect((await post({ ...exchange, code_verifier: 'wrong' })).status).toBe(400);
    const { body } = await post({ ...exchange, code_verifier: verifier });
    expect(server.inspect(body['access_token']!)).toMatchObject({ user: 'user-1', resource: query.resource });
    expect(body).toHaveProperty('id_token');
    expect((await post({ ...exchange, code_verifier: verifier })).status).toBe(400);
    expect(server.inspect(body['access_token']!)).toBeUndefined();
    server.change({ consent: 'deny' });
    const denied = await fetch(url, { redirect: 'manual' });
    expect(new URL(denied.headers.get('location')!).searchParams.get('error')).toBe('access_denied');
  });

  test('takes a client by its document, by registration and by its key', async () => {
    const { server, post } = await start({ clientDocuments: true });
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    server.addClient({
      clientId: 'keyed',
      authMethod: 'private_key_jwt',
      keys: [publicKey.export({ format: 'jwk' })],
    });
    const assertion = (aud: string) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: 'keyed', sub: 'keyed', aud, exp: Date.now() / 1_000 + 60, jti: randomUUID() };
      const signed = `${part({ alg: 'ES256' })}.${part(claims)}`;
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
      return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
    };
    const grant = (client_assertion: string) =>
      post({ grant_type: 'client_credentials', client_id: 'keyed', client_assertion });
    expect((await grant(assertion('http://elsewhere'))).status).toBe(401);
    const good = assertion(server.issuer);
    expect((await grant(good)).status).toBe(200);
    expect((await grant(good)).status).toBe(401);
    const registered = await fetch(server.endpoints.registration, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/cb'] }),
    });
    expect(registered.status).toBe(201);
    expect(server.counters.registrations).toBe(1);
    let document: object = {};
    const site = await scriptedHttpServer({
      era: 'legacy',
      respond: () => ({ status: 200, body: { ...document } }),
    });
    open.push(site);
    const code = { grant_type: 'authorization_code', client_id: site.url, code: 'unknown' };
    expect((await post(code)).body['error']).toBe('invalid_client');
    document = { client_id: site.url, redirect_uris: [] };
    expect((await post(code)).body['error']).toBe('invalid_grant');
    expect(server.counters.documentReads).toBe(2);
  });

  test('guards an MCP server, with the challenge and the document of RFC 9728', async () => {
    const { server } = await start();
    const guarded = await guardedMcpServer({ era: 'both', authorizationServer: server });
    open.push(guarded);
    const call = (token?: string) =>
      fetch(guarded.url, {
        method: 'POST',
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
      });
    const refused = await call();
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${guarded.metadataUrl}"`);
    const document = await (await fetch(guarded.metadataUrl)).json();
    expect(document).toMatchObject({ resource: guarded.url, authorization_servers: [server.issuer] });
    const { accessToken } = server.grant({ clientId: 'c1', scope: 'mcp:read', resource: guarded.url });
    expect((await call(accessToken)).status).toBe(200);
    guarded.guard({ requiredScope: 'mcp:read mcp:write' });
    const short = await call(accessToken);
    expect(short.status).toBe(403);
    expect(short.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    const otherGrant = server.grant({ clientId: 'c1', resource: 'http://127.0.0.1:9/mcp' });
    expect((await call(otherGrant.accessToken)).status).toBe(401);
    expect(guarded.guardedRequests.map(({ status }) => status)).toEqual([401, 'served', 403, 401]);
  });

  test('is its own authorization server, as servers of 2025-03-26 were', async () => {
    const guarded = await guardedMcpServer({
      era: 'legacy',
      guard: { documents: 'none', challenge: 'bare' },
    });
    open.push(guarded);
    const { origin } = new URL(guarded.url);
    const document = await (await fetch(`${origin}/.well-known/oauth-authorization-server`)).json();
    expect(document).toMatchObject({ issuer: origin, token_endpoint: `${origin}/token` });
  });

  test('tells other processes what it counted', async () => {
    const { server } = await start();
    const response = await fetch(server.controlUrl, {
      method: 'POST',
      body: JSON.stringify({ grant: { clientId: 'c1' }, change: { graceMs: 60_000 } }),
    });
    const { counters, granted } = (await response.json()) as {
      counters: { tokenHits: number };
      granted: { accessToken: string };
    };
    expect(counters.tokenHits).toBe(0);
    expect(server.inspect(granted.accessToken)).toBeDefined();
    expect(server.switches.graceMs).toBe(60_000);
  });
});
