import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createBrowser, signedIn } from './browser.ts';
import { answerOf, connect, facadeOf, leave, REDIRECT, visit, type FacadeClientRig } from './facadeScene.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

const yaml = JSON.stringify({ authorizationServer: { enabled: true, registration: { perMinute: 1_000 } } });

describe('the authorization server', () => {
  let gateway: InProcessGateway;
  let facade: FacadeClientRig;
  let ada: Awaited<ReturnType<typeof signedIn>>;

  beforeAll(async () => {
    gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml);
    ada = await signedIn(gateway);
    facade = await facadeOf(gateway.url);
  });
  afterAll(() => gateway.close());

  test('is not there unless it is enabled', async () => {
    const plain = await startInProcess();
    try {
      for (const path of [
        '/.well-known/oauth-authorization-server/as',
        '/as/auth',
        '/as/jwks',
        '/as/token',
      ]) {
        expect((await fetch(plain.url + path)).status).toBe(404);
      }
      expect((await (await signedIn(plain)).get('/api/user/clients')).status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  test('says who it is in all three places, whatever the headers say', async () => {
    for (const path of [
      '/.well-known/openid-configuration/as',
      '/as/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/as',
    ]) {
      const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher' };
      const response = await fetch(gateway.url + path, { headers });
      expect([path, response.status, await response.json()]).toEqual([path, 200, facade.metadata]);
    }
    expect(facade.metadata).not.toHaveProperty('authorization_grant_profiles_supported');
    expect(facade.metadata).toMatchObject({
      issuer: `${facade.base}/as`,
      authorization_endpoint: `${facade.base}/as/auth`,
      token_endpoint: `${facade.base}/as/token`,
      registration_endpoint: `${facade.base}/as/reg`,
      revocation_endpoint: `${facade.base}/as/token/revocation`,
      jwks_uri: `${facade.base}/as/jwks`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    expect(facade.metadata).not.toHaveProperty('userinfo_endpoint');
    const { keys } = (await (await fetch(facade.at(facade.metadata.jwks_uri))).json()) as { keys: object[] };
    expect(keys).toEqual([expect.not.objectContaining({ d: expect.anything() as unknown })]);
  });

  test('is whom the documents about the endpoints name', async () => {
    for (const path of ['', '/mcp', '/mcp/everything']) {
      const response = await fetch(`${gateway.url}/.well-known/oauth-protected-resource${path}`);
      expect(await response.json()).toMatchObject({
        resource: facade.base + path,
        authorization_servers: [`${facade.base}/as`],
        scopes_supported: ['mcp'],
      });
    }
  });

  test('gives a client tokens for one endpoint when its user agrees', async () => {
    const clientId = await facade.register();
    const { path, verifier } = facade.request(clientId);
    const page = await visit(ada, path, gateway.url);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('<strong>Notes</strong>');
    expect(text).toContain('Its name is not verified');
    expect(text).toContain('<strong>client.example</strong>');
    expect(text).toContain(`${facade.base}/mcp`);
    expect(text).not.toContain('program on your own machine');
    const { action, token } = answerOf(text);
    const back = await leave(ada, await ada.form(action, { token, decision: 'allow' }), gateway.url);
    expect(back.origin + back.pathname).toBe(REDIRECT);
    expect(back.searchParams.get('iss')).toBe(`${facade.base}/as`);
    expect(back.searchParams.get('state')).toBe('the state');
    const answer = await facade.redeem(clientId, back.searchParams.get('code') ?? '', verifier);
    const tokens = (await answer.json()) as { access_token: string; refresh_token: string };
    expect([answer.status, tokens]).toEqual([200, expect.objectContaining({ token_type: 'Bearer' })]);
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: `${facade.base}/as`,
      aud: `${facade.base}/mcp`,
      client_id: clientId,
      scope: 'mcp',
    });
    expect((await facade.refresh(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test('sends who is not signed in to the sign-in first', async () => {
    const stranger = createBrowser(gateway.url);
    const { path } = facade.request(await facade.register());
    const sent = await stranger.get(path);
    const interaction = new URL(sent.headers.get('location') ?? '', gateway.url).pathname;
    const asked = await stranger.get(interaction);
    expect([asked.status, asked.headers.get('location')]).toEqual([
      302,
      `/?${new URLSearchParams({ returnTo: interaction }).toString()}`,
    ]);
  });

  test('asks once for a client and its host, and every time on this machine', async () => {
    const clientId = await facade.register({ redirect_uris: [REDIRECT, 'https://other.example/cb'] });
    await connect(facade, ada, gateway.url, clientId);
    const again = await ada.get(facade.request(clientId).path);
    const straight = await leave(ada, again, gateway.url);
    expect(straight.searchParams.get('code')).not.toBeNull();
    const elsewhere = facade.request(clientId, { redirect_uri: 'https://other.example/cb' });
    const asked = await visit(ada, elsewhere.path, gateway.url);
    expect([asked.status, (await asked.text()).includes('other.example')]).toEqual([200, true]);

    const local = 'http://127.0.0.1:4567/callback';
    const native = await facade.register({ redirect_uris: [local] });
    for (let time = 0; time < 2; time += 1) {
      const { path } = facade.request(native, { redirect_uri: local });
      const page = await visit(ada, path, gateway.url);
      const text = await page.text();
      expect(text).toContain('program on your own machine');
      const { action, token } = answerOf(text);
      const sent = await ada.form(action, { token, decision: 'allow' });
      expect(sent.status).toBe(303);
    }
  });

  test('a user sees to whom they said yes, and takes it back', async () => {
    const clientId = await facade.register({ client_name: 'Taken back' });
    const { refresh_token: refreshToken } = await connect(facade, ada, gateway.url, clientId);
    const list = async () => {
      const { clients } = (await (await ada.get('/api/user/clients')).json()) as {
        clients: { id: string; clientId: string; clientName: string; redirectHost: string }[];
      };
      return clients.filter((client) => client.clientId === clientId);
    };
    const [known] = await list();
    expect(known).toMatchObject({ clientName: 'Taken back', redirectHost: 'client.example' });
    const remove = (id: string) =>
      ada.send(`/api/user/clients/${id}`, { method: 'DELETE', headers: { 'x-behalf-csrf': '1' } });
    expect((await remove('unknown')).status).toBe(404);
    expect((await remove(known?.id ?? '')).status).toBe(204);
    expect(await list()).toEqual([]);
    expect((await facade.refresh(clientId, refreshToken)).status).toBe(400);
    // Asked anew.
    const page = await visit(ada, facade.request(clientId).path, gateway.url);
    expect(await page.text()).toContain('Taken back');
  });

  test('a client is told that its user refused', async () => {
    const clientId = await facade.register();
    const page = await visit(ada, facade.request(clientId).path, gateway.url);
    const { action, token } = answerOf(await page.text());
    const back = await leave(ada, await ada.form(action, { token, decision: 'deny' }), gateway.url);
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('iss')).toBe(`${facade.base}/as`);
    expect(back.searchParams.get('code')).toBeNull();
  });

  test('a client ends what it was granted', async () => {
    const clientId = await facade.register();
    const { refresh_token: refreshToken } = await connect(facade, ada, gateway.url, clientId);
    const revoke = (client: string) =>
      facade.form(facade.metadata.revocation_endpoint, { client_id: client, token: refreshToken });
    // Nobody ends another's.
    await revoke(await facade.register());
    const next = await facade.refresh(clientId, refreshToken);
    const { refresh_token: current } = (await next.json()) as { refresh_token: string };
    expect(next.status).toBe(200);
    const ended = await facade.form(facade.metadata.revocation_endpoint, {
      ...{ client_id: clientId, token: current },
    });
    expect(ended.status).toBe(200);
    expect((await facade.refresh(clientId, current)).status).toBe(400);
  });
});
