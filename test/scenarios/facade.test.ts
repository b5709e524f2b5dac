import { verifies } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { signedIn } from './browser.ts';
import { agree, answerOf, connect, facadeOf, leave, REDIRECT, visit, type FacadeClientRig } from './facadeScene.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

const yaml = JSON.stringify({ authorizationServer: { enabled: true } });

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

  verifies('facade.metadata', 'it says who it is and what it does in all three places', async () => {
    for (const path of [
      '/.well-known/openid-configuration/as',
      '/as/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/as',
    ]) {
      const response = await fetch(gateway.url + path, { headers: { 'x-forwarded-host': 'evil.example' } });
      expect([path, response.status, await response.json()]).toEqual([path, 200, facade.metadata]);
    }
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
  });

  verifies('facade.connect', 'a client registers, its user agrees, and it gets tokens for one endpoint', async () => {
    const clientId = await facade.register();
    const { path, verifier } = facade.request(clientId);
    const page = await visit(ada, path, gateway.url);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('<strong>Notes</strong>');
    expect(text).toContain('<strong>client.example</strong>');
    expect(text).toContain(`${facade.base}/mcp`);
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
    const again = await facade.refresh(clientId, tokens.refresh_token);
    expect(again.status).toBe(200);
    void agree;
    void connect;
  });
});
