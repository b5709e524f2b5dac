import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createBrowser, createAdministrator } from './browser.ts';
import {
  giveConsent,
  readConsentForm,
  connectClient,
  createAuthorizationClient,
  followToClient,
  CLIENT_REDIRECT_URI,
  openAuthorization,
  type AuthorizationClientRig,
  type TokenResponse,
} from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { createOffsetClock } from './oboSignInVisitor.ts';
import { createUsers } from './users.ts';
import { dumpStore } from './storeDump.ts';

const yaml = (replayWindowSeconds: number) =>
  JSON.stringify({
    authorizationServer: { enabled: true, replayWindowSeconds, registration: { perMinute: 1_000 } },
  });

describe('attacks on the authorization server', () => {
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;
  let ada: Awaited<ReturnType<typeof createAdministrator>>;

  beforeAll(async () => {
    gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(0));
    ada = await createAdministrator(gateway);
    authorizationClient = await createAuthorizationClient(gateway.url);
  });
  afterAll(() => gateway.close());

  const bodyOf = async (response: Response) => ({
    status: response.status,
    ...((await response.json()) as { error?: string }),
  });
  const statusAt = async (path: string, { access_token: token }: TokenResponse) =>
    (await sendModern(createKeyClient(token, gateway.url, path), 'tools/list', {})).status;
  /** The code of a client, with what belongs to it. */
  async function codeFor(clientId: string, overrides: Record<string, string> = {}) {
    const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId, overrides);
    const back = await giveConsent(ada, path, gateway.url);
    return { code: back.searchParams.get('code') ?? '', verifier };
  }

  test('nobody is sent to an address that is not registered letter by letter', async () => {
    const clientId = await authorizationClient.register();
    for (const redirectUri of [
      `${CLIENT_REDIRECT_URI}/`,
      `${CLIENT_REDIRECT_URI}?x=1`,
      `${CLIENT_REDIRECT_URI}/../callback`,
      'https://client.example:8443/callback',
      'https://client.example.evil.example/callback',
      'https://client.example/Callback',
      'https://user@client.example/callback',
      'http://client.example/callback',
      undefined,
    ]) {
      const answer = await ada.get(
        authorizationClient.createAuthorizationRequest(clientId, { redirect_uri: redirectUri }).path,
      );
      // Registered are one address and no other: leaving it out is no way round saying it.
      expect([redirectUri, answer.status, answer.headers.get('location')]).toEqual([redirectUri, 400, null]);
    }
    const { code, verifier } = await codeFor(clientId);
    const other = await authorizationClient.redeemCode(clientId, code, verifier, {
      redirect_uri: `${CLIENT_REDIRECT_URI}/`,
    });
    expect(await bodyOf(other)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('no client registers plain http elsewhere, or a script', async () => {
    for (const uri of [
      'http://client.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://a.example/#f',
    ]) {
      await expect(authorizationClient.register({ redirect_uris: [uri] })).rejects.toThrow('invalid_');
    }
    await expect(
      authorizationClient.register({ redirect_uris: Array(11).fill(CLIENT_REDIRECT_URI) }),
    ).rejects.toThrow('invalid_');
  });

  test('there is no code without a challenge, and none by a plain one', async () => {
    const secret = { token_endpoint_auth_method: 'client_secret_post' };
    for (const clientId of [
      await authorizationClient.register(),
      await authorizationClient.register(secret),
    ]) {
      for (const over of [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
      ]) {
        const answer = await ada.get(authorizationClient.createAuthorizationRequest(clientId, over).path);
        const back = new URL(answer.headers.get('location') ?? '', gateway.url);
        expect([over, back.searchParams.get('error'), back.searchParams.get('code')]).toEqual([
          ...[over, 'invalid_request', null],
        ]);
      }
    }
    const clientId = await authorizationClient.register();
    const { code } = await codeFor(clientId);
    const wrong = await authorizationClient.redeemCode(clientId, code, 'v'.repeat(43));
    expect(await bodyOf(wrong)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('a code that comes again ends what the first one gave', async () => {
    const clientId = await authorizationClient.register();
    const { code, verifier } = await codeFor(clientId);
    const first = (await (
      await authorizationClient.redeemCode(clientId, code, verifier)
    ).json()) as TokenResponse;
    expect(await statusAt('/mcp', first)).toBe(200);
    expect(await bodyOf(await authorizationClient.redeemCode(clientId, code, verifier))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    // The access token too, which the library could not take back.
    await eventually('it is refused', async () => (await statusAt('/mcp', first)) === 401);
    expect(
      await bodyOf(await authorizationClient.refreshTokens(clientId, first.refresh_token)),
    ).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
  });

  test('of many at once at most one gets anything, and nobody keeps it', async () => {
    const clientId = await authorizationClient.register();
    const { code, verifier } = await codeFor(clientId);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () =>
        (await authorizationClient.redeemCode(clientId, code, verifier)).json(),
      ),
    );
    const successful = (answers as Partial<TokenResponse>[]).filter(
      (answer) => answer.access_token !== undefined,
    );
    expect(successful.length).toBeLessThanOrEqual(1);
    for (const { refresh_token: token = '' } of successful) {
      expect(await bodyOf(await authorizationClient.refreshTokens(clientId, token))).toMatchObject({
        status: 400,
      });
    }
  });

  test('a code is worth nothing to another client', async () => {
    const clientId = await authorizationClient.register();
    const { code, verifier } = await codeFor(clientId);
    const stolen = await authorizationClient.redeemCode(await authorizationClient.register(), code, verifier);
    expect(await bodyOf(stolen)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('a refresh token that comes again ends the whole family', async () => {
    const clientId = await authorizationClient.register();
    const { refresh_token: first } = await connectClient(authorizationClient, ada, gateway.url, clientId);
    const second = (await (await authorizationClient.refreshTokens(clientId, first)).json()) as TokenResponse;
    expect(second.refresh_token).not.toBe(first);
    expect(await statusAt('/mcp', second)).toBe(200);
    expect(await bodyOf(await authorizationClient.refreshTokens(clientId, first))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    expect(
      await bodyOf(await authorizationClient.refreshTokens(clientId, second.refresh_token)),
    ).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    await eventually('it is refused', async () => (await statusAt('/mcp', second)) === 401);
  });

  test('what was said to one client counts for no other', async () => {
    const one = await authorizationClient.register({ client_name: 'One' });
    await connectClient(authorizationClient, ada, gateway.url, one);
    const other = await authorizationClient.register({ client_name: 'Other' });
    const page = await openAuthorization(
      ada,
      authorizationClient.createAuthorizationRequest(other).path,
      gateway.url,
    );
    expect([page.status, (await page.text()).includes('<strong>Other</strong>')]).toEqual([200, true]);
  });

  test('what one user said counts for no other', async () => {
    const clientId = await authorizationClient.register({ client_name: 'Shared' });
    await connectClient(authorizationClient, ada, gateway.url, clientId);
    const [bob] = await createUsers(gateway, ['bob']);
    const browser = createBrowser(gateway.url);
    for (const pair of (bob?.cookie ?? '').split('; ')) {
      browser.cookies.set(...(pair.split(/=(.*)/s) as [string, string]));
    }
    const page = await openAuthorization(
      browser,
      authorizationClient.createAuthorizationRequest(clientId).path,
      gateway.url,
    );
    expect([page.status, (await page.text()).includes('<strong>Shared</strong>')]).toEqual([200, true]);
  });

  test('what was said of one server counts for no other and not for all', async () => {
    const clientId = await authorizationClient.register({ client_name: 'Narrow' });
    const at = (...paths: string[]) => {
      const [first = '', ...more] = paths.map((path) => authorizationClient.base + path);
      const { path } = authorizationClient.createAuthorizationRequest(clientId, { resource: first });
      return path + more.map((resource) => `&${new URLSearchParams({ resource }).toString()}`).join('');
    };
    /** Whether the page was shown; whoever sees it agrees. */
    const isAsked = async (path: string) => {
      const page = await openAuthorization(ada, path, gateway.url);
      const redirectLocation = page.headers.get('location');
      if (redirectLocation !== null && new URL(redirectLocation).searchParams.has('code')) return false;
      const { action, token } = readConsentForm(await page.text());
      await followToClient(ada, await ada.form(action, { token, decision: 'allow' }), gateway.url);
      return true;
    };
    expect(await isAsked(at('/mcp/one'))).toBe(true);
    expect(await isAsked(at('/mcp/one'))).toBe(false);
    expect(await isAsked(at('/mcp/one', '/mcp'))).toBe(true);
    expect(await isAsked(at('/mcp/two'))).toBe(true);
    // What was shown before is still known, and so is a part of it.
    for (const paths of [['/mcp/one'], ['/mcp'], ['/mcp', '/mcp/two']])
      expect(await isAsked(at(...paths))).toBe(false);
  });

  test('a yes that did not come from our page is none', async () => {
    const clientId = await authorizationClient.register();
    const ask = async () =>
      readConsentForm(
        await (
          await openAuthorization(
            ada,
            authorizationClient.createAuthorizationRequest(clientId).path,
            gateway.url,
          )
        ).text(),
      );
    const one = await ask();
    const other = await ask();
    const send = (action: string, token: string, headers: Record<string, string>) =>
      ada.send(action, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ token, decision: 'allow' }),
      });
    const own = { origin: new URL(gateway.url).origin };
    expect((await send(other.action, '', own)).status).toBe(403);
    // The token of another question of the same user.
    expect((await send(other.action, one.token, own)).status).toBe(403);
    expect((await send(other.action, other.token, { origin: 'https://evil.example' })).status).toBe(403);
    // Somebody else's browser does not have this question.
    const unrelatedUser = await signedInAgain();
    expect((await unrelatedUser.form(other.action, { token: other.token, decision: 'allow' })).status).toBe(
      400,
    );
    expect((await send(other.action, other.token, own)).status).toBe(303);
  });

  async function signedInAgain() {
    const browser = createBrowser(gateway.url);
    await browser.post('/api/auth/login', { email: 'ada@example.com', password: 'correct horse battery' });
    return browser;
  }

  test('what a client calls itself is text', async () => {
    const client_name = '<img src=x onerror=alert(1)>\u202eevil';
    const clientId = await authorizationClient.register({ client_name });
    const text = await (
      await openAuthorization(ada, authorizationClient.createAuthorizationRequest(clientId).path, gateway.url)
    ).text();
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62;evil');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202e');
  });

  test('tokens are for our endpoints and no others', async () => {
    const clientId = await authorizationClient.register();
    for (const resource of [
      'https://elsewhere.example/mcp',
      `${authorizationClient.base}/api`,
      `${authorizationClient.base}/mcp/a/b`,
      `${authorizationClient.base}.evil.example/mcp`,
    ]) {
      const answer = await ada.get(
        authorizationClient.createAuthorizationRequest(clientId, { resource }).path,
      );
      const back = new URL(answer.headers.get('location') ?? '', gateway.url);
      expect([resource, back.searchParams.get('error')]).toEqual([resource, 'invalid_target']);
    }
    const one = `${authorizationClient.base}/mcp/files`;
    const { code, verifier } = await codeFor(clientId, { resource: one });
    const swapped = await authorizationClient.redeemCode(clientId, code, verifier, {
      resource: `${authorizationClient.base}/mcp`,
    });
    expect(await bodyOf(swapped)).toMatchObject({ status: 400, error: 'invalid_target' });
    const again = await codeFor(clientId, { resource: one });
    const tokens = (await (
      await authorizationClient.redeemCode(clientId, again.code, again.verifier)
    ).json()) as TokenResponse;
    expect(decodeJwt(tokens.access_token).aud).toBe(one);
    // It opens no other door.
    const authorization = `Bearer ${tokens.access_token}`;
    for (const path of ['/api/user', '/api/mcp/tools', '/api/user/clients']) {
      expect((await fetch(gateway.url + path, { headers: { authorization } })).status).toBe(401);
    }
    // Nor another endpoint, and least of all the one that all servers are behind.
    for (const path of ['/mcp', '/mcp/other'])
      expect([path, await statusAt(path, tokens)]).toEqual([path, 401]);
  });

  test('what names a grant is no session', async () => {
    const clientId = await authorizationClient.register();
    const { path } = authorizationClient.createAuthorizationRequest(clientId);
    const page = await openAuthorization(ada, path, gateway.url);
    const { action, token } = readConsentForm(await page.text());
    await ada.form(action, { token, decision: 'allow' });
    const uid = action.split('/').at(-1) ?? '';
    for (const secret of [uid, `grant:${uid}`]) {
      const answer = await fetch(`${gateway.url}/api/user`, {
        headers: { cookie: `behalf_session=${secret}` },
      });
      expect(answer.status).toBe(401);
    }
  });

  test('who has a copy of the store has no code and no token', async () => {
    const clientId = await authorizationClient
      .register({ token_endpoint_auth_method: 'client_secret_post' })
      .catch(() => '');
    const open = await authorizationClient.register();
    const { code, verifier } = await codeFor(open);
    const before = await dumpStore(gateway);
    expect(before).not.toContain(code);
    const tokens = (await (
      await authorizationClient.redeemCode(open, code, verifier)
    ).json()) as TokenResponse;
    const stored = await dumpStore(gateway);
    const logged = JSON.stringify(gateway.logged);
    for (const secret of [code, verifier, tokens.access_token, tokens.refresh_token, clientId]) {
      expect(stored).not.toContain(secret);
      expect(logged).not.toContain(secret);
    }
  });
});

describe('clients that race', () => {
  test('are not racing any more when the window is over', async () => {
    const clock = createOffsetClock();
    const gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(60), clock);
    try {
      const ada = await createAdministrator(gateway);
      const authorizationClient = await createAuthorizationClient(gateway.url);
      const clientId = await authorizationClient.register();
      const { refresh_token: first } = await connectClient(authorizationClient, ada, gateway.url, clientId);
      const { refresh_token: second } = (await (
        await authorizationClient.refreshTokens(clientId, first)
      ).json()) as TokenResponse;
      clock.advance(50_000);
      expect(await (await authorizationClient.refreshTokens(clientId, first)).json()).toMatchObject({
        refresh_token: second,
      });
      // The window is that of the first use: who comes again does not prolong it.
      clock.advance(15_000);
      expect((await authorizationClient.refreshTokens(clientId, first)).status).toBe(400);
      expect((await authorizationClient.refreshTokens(clientId, second)).status).toBe(400);
    } finally {
      await gateway.close();
    }
  });

  test('get the same successor, and it goes on', async () => {
    const gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(60));
    try {
      const ada = await createAdministrator(gateway);
      const authorizationClient = await createAuthorizationClient(gateway.url);
      const clientId = await authorizationClient.register();
      const { refresh_token: first } = await connectClient(authorizationClient, ada, gateway.url, clientId);
      const answers = await Promise.all(
        Array.from({ length: 6 }, async () =>
          (await authorizationClient.refreshTokens(clientId, first)).json(),
        ),
      );
      // One whose answer was lost comes later.
      answers.push(await (await authorizationClient.refreshTokens(clientId, first)).json());
      const successors = new Set((answers as TokenResponse[]).map(({ refresh_token: token }) => token));
      expect(successors.size).toBe(1);
      const [successor = ''] = successors;
      expect(successor).not.toBe(first);
      const next = await authorizationClient.refreshTokens(clientId, successor);
      expect(next.status).toBe(200);
      // The successor was used: whoever has the first one now is not racing any more.
      expect((await authorizationClient.refreshTokens(clientId, first)).status).toBe(400);
      const { refresh_token: last } = (await next.json()) as TokenResponse;
      expect((await authorizationClient.refreshTokens(clientId, last)).status).toBe(400);
    } finally {
      await gateway.close();
    }
  });
});
