import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createBrowser, createAdministrator } from './browser.ts';
import {
  readConsentForm,
  connectClient,
  createAuthorizationClient,
  followToClient,
  CLIENT_REDIRECT_URI,
  openAuthorization,
  type AuthorizationClientRig,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

const yaml = JSON.stringify({ authorizationServer: { enabled: true, registration: { perMinute: 1_000 } } });

describe('the authorization server', () => {
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;
  let ada: Awaited<ReturnType<typeof createAdministrator>>;

  beforeAll(async () => {
    gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml);
    ada = await createAdministrator(gateway);
    authorizationClient = await createAuthorizationClient(gateway.url);
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
      expect((await (await createAdministrator(plain)).get('/api/user/clients')).status).toBe(404);
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
      expect([path, response.status, await response.json()]).toEqual([
        path,
        200,
        authorizationClient.metadata,
      ]);
    }
    expect(authorizationClient.metadata).not.toHaveProperty('authorization_grant_profiles_supported');
    expect(authorizationClient.metadata).toMatchObject({
      issuer: `${authorizationClient.base}/as`,
      authorization_endpoint: `${authorizationClient.base}/as/auth`,
      token_endpoint: `${authorizationClient.base}/as/token`,
      registration_endpoint: `${authorizationClient.base}/as/reg`,
      revocation_endpoint: `${authorizationClient.base}/as/token/revocation`,
      jwks_uri: `${authorizationClient.base}/as/jwks`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    expect(authorizationClient.metadata).not.toHaveProperty('userinfo_endpoint');
    const { keys } = (await (
      await fetch(authorizationClient.resolveUrl(authorizationClient.metadata.jwks_uri))
    ).json()) as { keys: object[] };
    expect(keys).toEqual([expect.not.objectContaining({ d: expect.anything() as unknown })]);
  });

  test('is whom the documents about the endpoints name', async () => {
    for (const path of ['', '/mcp', '/mcp/everything']) {
      const response = await fetch(`${gateway.url}/.well-known/oauth-protected-resource${path}`);
      expect(await response.json()).toMatchObject({
        resource: authorizationClient.base + path,
        authorization_servers: [`${authorizationClient.base}/as`],
        scopes_supported: ['mcp'],
      });
    }
  });

  test('gives a client tokens for one endpoint when its user agrees', async () => {
    const clientId = await authorizationClient.register();
    const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId);
    const page = await openAuthorization(ada, path, gateway.url);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('<strong>Notes</strong>');
    expect(text).toContain('Its name is not verified');
    expect(text).toContain('<strong>client.example</strong>');
    expect(text).toContain(`${authorizationClient.base}/mcp`);
    expect(text).not.toContain('program on your own computer');
    const { action, token } = readConsentForm(text);
    const back = await followToClient(ada, await ada.form(action, { token, decision: 'allow' }), gateway.url);
    expect(back.origin + back.pathname).toBe(CLIENT_REDIRECT_URI);
    expect(back.searchParams.get('iss')).toBe(`${authorizationClient.base}/as`);
    expect(back.searchParams.get('state')).toBe('the state');
    const answer = await authorizationClient.redeemCode(
      clientId,
      back.searchParams.get('code') ?? '',
      verifier,
    );
    const tokens = (await answer.json()) as { access_token: string; refresh_token: string };
    expect([answer.status, tokens]).toEqual([200, expect.objectContaining({ token_type: 'Bearer' })]);
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: `${authorizationClient.base}/as`,
      aud: `${authorizationClient.base}/mcp`,
      client_id: clientId,
      scope: 'mcp',
    });
    expect((await authorizationClient.refreshTokens(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test('sends who is not signed in to the sign-in first', async () => {
    const otherBrowser = createBrowser(gateway.url);
    const { path } = authorizationClient.createAuthorizationRequest(await authorizationClient.register());
    const sent = await otherBrowser.get(path);
    const interaction = new URL(sent.headers.get('location') ?? '', gateway.url).pathname;
    const response = await otherBrowser.get(interaction);
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      `/?${new URLSearchParams({ returnTo: interaction }).toString()}`,
    ]);
  });

  test('asks once for a client and its host, and every time on this machine', async () => {
    const clientId = await authorizationClient.register({
      redirect_uris: [CLIENT_REDIRECT_URI, 'https://other.example/cb'],
    });
    await connectClient(authorizationClient, ada, gateway.url, clientId);
    const again = await ada.get(authorizationClient.createAuthorizationRequest(clientId).path);
    const straight = await followToClient(ada, again, gateway.url);
    expect(straight.searchParams.get('code')).not.toBeNull();
    const otherRequest = authorizationClient.createAuthorizationRequest(clientId, {
      redirect_uri: 'https://other.example/cb',
    });
    const response = await openAuthorization(ada, otherRequest.path, gateway.url);
    expect([response.status, (await response.text()).includes('other.example')]).toEqual([200, true]);

    const local = 'http://127.0.0.1:4567/callback';
    const native = await authorizationClient.register({ redirect_uris: [local] });
    for (let time = 0; time < 2; time += 1) {
      const { path } = authorizationClient.createAuthorizationRequest(native, { redirect_uri: local });
      const page = await openAuthorization(ada, path, gateway.url);
      const text = await page.text();
      expect(text).toContain('program on your own computer');
      const { action, token } = readConsentForm(text);
      const sent = await ada.form(action, { token, decision: 'allow' });
      expect(sent.status).toBe(303);
    }
  });

  test('a user sees to whom they said yes, and takes it back', async () => {
    const clientId = await authorizationClient.register({ client_name: 'Taken back' });
    const { refresh_token: refreshToken } = await connectClient(
      authorizationClient,
      ada,
      gateway.url,
      clientId,
    );
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
    expect((await authorizationClient.refreshTokens(clientId, refreshToken)).status).toBe(400);
    // Asked anew.
    const page = await openAuthorization(
      ada,
      authorizationClient.createAuthorizationRequest(clientId).path,
      gateway.url,
    );
    expect(await page.text()).toContain('Taken back');
  });

  test('a client is told that its user refused', async () => {
    const clientId = await authorizationClient.register();
    const page = await openAuthorization(
      ada,
      authorizationClient.createAuthorizationRequest(clientId).path,
      gateway.url,
    );
    const { action, token } = readConsentForm(await page.text());
    const back = await followToClient(ada, await ada.form(action, { token, decision: 'deny' }), gateway.url);
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('iss')).toBe(`${authorizationClient.base}/as`);
    expect(back.searchParams.get('code')).toBeNull();
  });

  test('a client ends what it was granted', async () => {
    const clientId = await authorizationClient.register();
    const { refresh_token: refreshToken } = await connectClient(
      authorizationClient,
      ada,
      gateway.url,
      clientId,
    );
    const revoke = (client: string) =>
      authorizationClient.postForm(authorizationClient.metadata.revocation_endpoint, {
        client_id: client,
        token: refreshToken,
      });
    // Nobody ends another's.
    await revoke(await authorizationClient.register());
    const next = await authorizationClient.refreshTokens(clientId, refreshToken);
    const { refresh_token: current } = (await next.json()) as { refresh_token: string };
    expect(next.status).toBe(200);
    const ended = await authorizationClient.postForm(authorizationClient.metadata.revocation_endpoint, {
      ...{ client_id: clientId, token: current },
    });
    expect(ended.status).toBe(200);
    expect((await authorizationClient.refreshTokens(clientId, current)).status).toBe(400);
  });
});
