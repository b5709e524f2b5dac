import { createHash, randomBytes } from 'node:crypto';
import { createScriptedBrowser } from '@behalf/devidp';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import { startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';

const desk = { id: 'desk', secret: 'secret-of-the-desk', redirectUris: ['http://127.0.0.1:1/callback'] };
const SCOPE = 'access_as_user';

describe('an MCP client whose tokens say nothing themselves', () => {
  const clock = createAdjustableClock();
  let gateway: OpenIdGateway;

  beforeAll(async () => {
    gateway = await startOpenIdGateway({
      users: [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }],
      clients: [desk],
      variables: { OPENID_INTROSPECTION: 'true', OPENID_MCP_SCOPE: SCOPE },
      ...{ clock, usesOpaqueTokens: true },
    });
  }, 60_000);
  afterAll(() => gateway?.close());

  const base = () => gateway.url.replace('127.0.0.1', 'localhost');
  const post = (path: string, form: Record<string, string>) =>
    fetch(gateway.idp.issuer + path, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${desk.id}:${desk.secret}`).toString('base64')}` },
      body: new URLSearchParams(form),
    });

  /** As the client gets them, for one endpoint. */
  async function tokensFor(resource: string): Promise<{ access_token: string; refresh_token: string }> {
    const [redirect = ''] = desk.redirectUris;
    const verifier = randomBytes(32).toString('base64url');
    const url = new URL('/auth', gateway.idp.issuer);
    url.search = new URLSearchParams({
      ...{ client_id: desk.id, redirect_uri: redirect, response_type: 'code', resource },
      scope: `openid offline_access ${SCOPE}`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString();
    const code = (await createScriptedBrowser().signIn(url, 'u-ada')).searchParams.get('code') ?? '';
    const answer = await post('/token', {
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirect, resource },
      code_verifier: verifier,
    });
    return (await answer.json()) as { access_token: string; refresh_token: string };
  }

  /** What the endpoint answers to who shows this token. */
  async function status(token: string, path = '/mcp'): Promise<number> {
    return (await sendModern(createKeyClient(token, gateway.url, path), 'tools/list')).status;
  }

  test('is let in where its token was given for', async () => {
    const { access_token: access, refresh_token: refresh } = await tokensFor(`${base()}/mcp/everything`);
    expect(access).not.toContain('.');
    const answers = {
      own: await status(access, '/mcp/everything'),
      other: await status(access),
      refresh: await status(refresh, '/mcp/everything'),
      guessed: await status('a'.repeat(43)),
    };
    expect(answers).toEqual({ own: 200, other: 401, refresh: 401, guessed: 401 });
  });

  test('is out within half a minute after its token was ended', async () => {
    const { access_token: access } = await tokensFor(`${base()}/mcp`);
    expect(await status(access)).toBe(200);
    expect((await post('/token/revocation', { token: access })).status).toBe(200);
    clock.advance(30_000);
    expect(await status(access)).toBe(401);
  });
});
