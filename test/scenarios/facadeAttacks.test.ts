import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createBrowser, signedIn } from './browser.ts';
import {
  agree,
  answerOf,
  connect,
  facadeOf,
  leave,
  REDIRECT,
  visit,
  type FacadeClientRig,
  type Tokens,
} from './facadeScene.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { clientWith, modernRequest } from './mcpClient.ts';
import { createRunningClock } from './oboSignInVisitor.ts';
import { createPeople } from './people.ts';
import { storeDump } from './storeDump.ts';

const yaml = (replayWindowSeconds: number) =>
  JSON.stringify({
    authorizationServer: { enabled: true, replayWindowSeconds, registration: { perMinute: 1_000 } },
  });

describe('attacks on the authorization server', () => {
  let gateway: InProcessGateway;
  let facade: FacadeClientRig;
  let ada: Awaited<ReturnType<typeof signedIn>>;

  beforeAll(async () => {
    gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(0));
    ada = await signedIn(gateway);
    facade = await facadeOf(gateway.url);
  });
  afterAll(() => gateway.close());

  const bodyOf = async (response: Response) => ({
    status: response.status,
    ...((await response.json()) as { error?: string }),
  });
  const statusAt = async (path: string, { access_token: token }: Tokens) =>
    (await modernRequest(clientWith(token, gateway.url, path), 'tools/list', {})).status;
  /** The code of a client, with what belongs to it. */
  async function codeFor(clientId: string, over: Record<string, string> = {}) {
    const { path, verifier } = facade.request(clientId, over);
    const back = await agree(ada, path, gateway.url);
    return { code: back.searchParams.get('code') ?? '', verifier };
  }

  test('nobody is sent to an address that is not registered letter by letter', async () => {
    const clientId = await facade.register();
    for (const redirectUri of [
      `${REDIRECT}/`,
      `${REDIRECT}?x=1`,
      `${REDIRECT}/../callback`,
      'https://client.example:8443/callback',
      'https://client.example.evil.example/callback',
      'https://client.example/Callback',
      'https://user@client.example/callback',
      'http://client.example/callback',
      undefined,
    ]) {
      const answer = await ada.get(facade.request(clientId, { redirect_uri: redirectUri }).path);
      // Registered are one address and no other: leaving it out is no way round saying it.
      expect([redirectUri, answer.status, answer.headers.get('location')]).toEqual([redirectUri, 400, null]);
    }
    const { code, verifier } = await codeFor(clientId);
    const other = await facade.redeem(clientId, code, verifier, { redirect_uri: `${REDIRECT}/` });
    expect(await bodyOf(other)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('no client registers plain http elsewhere, or a script', async () => {
    for (const uri of [
      'http://client.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://a.example/#f',
    ]) {
      await expect(facade.register({ redirect_uris: [uri] })).rejects.toThrow('invalid_');
    }
    await expect(facade.register({ redirect_uris: Array(11).fill(REDIRECT) })).rejects.toThrow('invalid_');
  });

  test('there is no code without a challenge, and none by a plain one', async () => {
    const secret = { token_endpoint_auth_method: 'client_secret_post' };
    for (const clientId of [await facade.register(), await facade.register(secret)]) {
      for (const over of [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
      ]) {
        const answer = await ada.get(facade.request(clientId, over).path);
        const back = new URL(answer.headers.get('location') ?? '', gateway.url);
        expect([over, back.searchParams.get('error'), back.searchParams.get('code')]).toEqual([
          ...[over, 'invalid_request', null],
        ]);
      }
    }
    const clientId = await facade.register();
    const { code } = await codeFor(clientId);
    const wrong = await facade.redeem(clientId, code, 'v'.repeat(43));
    expect(await bodyOf(wrong)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('a code that comes again ends what the first one gave', async () => {
    const clientId = await facade.register();
    const { code, verifier } = await codeFor(clientId);
    const first = (await (await facade.redeem(clientId, code, verifier)).json()) as Tokens;
    expect(await statusAt('/mcp', first)).toBe(200);
    expect(await bodyOf(await facade.redeem(clientId, code, verifier))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    // The access token too, which the library could not take back.
    await eventually('it is refused', async () => (await statusAt('/mcp', first)) === 401);
    expect(await bodyOf(await facade.refresh(clientId, first.refresh_token))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
  });

  test('of many at once at most one gets anything, and nobody keeps it', async () => {
    const clientId = await facade.register();
    const { code, verifier } = await codeFor(clientId);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => (await facade.redeem(clientId, code, verifier)).json()),
    );
    const given = (answers as Partial<Tokens>[]).filter((answer) => answer.access_token !== undefined);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { refresh_token: token = '' } of given) {
      expect(await bodyOf(await facade.refresh(clientId, token))).toMatchObject({ status: 400 });
    }
  });

  test('a code is worth nothing to another client', async () => {
    const clientId = await facade.register();
    const { code, verifier } = await codeFor(clientId);
    const stolen = await facade.redeem(await facade.register(), code, verifier);
    expect(await bodyOf(stolen)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('a refresh token that comes again ends the whole family', async () => {
    const clientId = await facade.register();
    const { refresh_token: first } = await connect(facade, ada, gateway.url, clientId);
    const second = (await (await facade.refresh(clientId, first)).json()) as Tokens;
    expect(second.refresh_token).not.toBe(first);
    expect(await statusAt('/mcp', second)).toBe(200);
    expect(await bodyOf(await facade.refresh(clientId, first))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    expect(await bodyOf(await facade.refresh(clientId, second.refresh_token))).toMatchObject({
      ...{ status: 400, error: 'invalid_grant' },
    });
    await eventually('it is refused', async () => (await statusAt('/mcp', second)) === 401);
  });

  test('what was said to one client counts for no other', async () => {
    const one = await facade.register({ client_name: 'One' });
    await connect(facade, ada, gateway.url, one);
    const other = await facade.register({ client_name: 'Other' });
    const page = await visit(ada, facade.request(other).path, gateway.url);
    expect([page.status, (await page.text()).includes('<strong>Other</strong>')]).toEqual([200, true]);
  });

  test('what one user said counts for no other', async () => {
    const clientId = await facade.register({ client_name: 'Shared' });
    await connect(facade, ada, gateway.url, clientId);
    const [bob] = await createPeople(gateway, ['bob']);
    const browser = createBrowser(gateway.url);
    for (const pair of (bob?.cookie ?? '').split('; ')) {
      browser.cookies.set(...(pair.split(/=(.*)/s) as [string, string]));
    }
    const page = await visit(browser, facade.request(clientId).path, gateway.url);
    expect([page.status, (await page.text()).includes('<strong>Shared</strong>')]).toEqual([200, true]);
  });

  test('what was said of one server counts for no other and not for all', async () => {
    const clientId = await facade.register({ client_name: 'Narrow' });
    const at = (...paths: string[]) => {
      const [first = '', ...more] = paths.map((path) => facade.base + path);
      const { path } = facade.request(clientId, { resource: first });
      return path + more.map((resource) => `&${new URLSearchParams({ resource }).toString()}`).join('');
    };
    /** Whether the page was shown; whoever sees it agrees. */
    const isAsked = async (path: string) => {
      const page = await visit(ada, path, gateway.url);
      const gone = page.headers.get('location');
      if (gone !== null && new URL(gone).searchParams.has('code')) return false;
      const { action, token } = answerOf(await page.text());
      await leave(ada, await ada.form(action, { token, decision: 'allow' }), gateway.url);
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
    const clientId = await facade.register();
    const ask = async () =>
      answerOf(await (await visit(ada, facade.request(clientId).path, gateway.url)).text());
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
    const stranger = await signedInAgain();
    expect((await stranger.form(other.action, { token: other.token, decision: 'allow' })).status).toBe(400);
    expect((await send(other.action, other.token, own)).status).toBe(303);
  });

  async function signedInAgain() {
    const browser = createBrowser(gateway.url);
    await browser.post('/api/auth/login', { email: 'ada@example.com', password: 'correct horse battery' });
    return browser;
  }

  test('what a client calls itself is text', async () => {
    const client_name = '<img src=x onerror=alert(1)>\u202eevil';
    const clientId = await facade.register({ client_name });
    const text = await (await visit(ada, facade.request(clientId).path, gateway.url)).text();
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62;evil');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202e');
  });

  test('tokens are for our endpoints and no others', async () => {
    const clientId = await facade.register();
    for (const resource of [
      'https://elsewhere.example/mcp',
      `${facade.base}/api`,
      `${facade.base}/mcp/a/b`,
      `${facade.base}.evil.example/mcp`,
    ]) {
      const answer = await ada.get(facade.request(clientId, { resource }).path);
      const back = new URL(answer.headers.get('location') ?? '', gateway.url);
      expect([resource, back.searchParams.get('error')]).toEqual([resource, 'invalid_target']);
    }
    const one = `${facade.base}/mcp/files`;
    const { code, verifier } = await codeFor(clientId, { resource: one });
    const swapped = await facade.redeem(clientId, code, verifier, { resource: `${facade.base}/mcp` });
    expect(await bodyOf(swapped)).toMatchObject({ status: 400, error: 'invalid_target' });
    const again = await codeFor(clientId, { resource: one });
    const tokens = (await (await facade.redeem(clientId, again.code, again.verifier)).json()) as Tokens;
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
    const clientId = await facade.register();
    const { path } = facade.request(clientId);
    const page = await visit(ada, path, gateway.url);
    const { action, token } = answerOf(await page.text());
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
    const clientId = await facade
      .register({ token_endpoint_auth_method: 'client_secret_post' })
      .catch(() => '');
    const open = await facade.register();
    const { code, verifier } = await codeFor(open);
    const before = await storeDump(gateway);
    expect(before).not.toContain(code);
    const tokens = (await (await facade.redeem(open, code, verifier)).json()) as Tokens;
    const stored = await storeDump(gateway);
    const logged = JSON.stringify(gateway.logged);
    for (const secret of [code, verifier, tokens.access_token, tokens.refresh_token, clientId]) {
      expect(stored).not.toContain(secret);
      expect(logged).not.toContain(secret);
    }
  });
});

describe('clients that race', () => {
  test('are not racing any more when the window is over', async () => {
    const clock = createRunningClock();
    const gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(60), clock);
    try {
      const ada = await signedIn(gateway);
      const facade = await facadeOf(gateway.url);
      const clientId = await facade.register();
      const { refresh_token: first } = await connect(facade, ada, gateway.url, clientId);
      const { refresh_token: second } = (await (await facade.refresh(clientId, first)).json()) as Tokens;
      clock.move(50_000);
      expect(await (await facade.refresh(clientId, first)).json()).toMatchObject({ refresh_token: second });
      // The window is that of the first use: who comes again does not prolong it.
      clock.move(15_000);
      expect((await facade.refresh(clientId, first)).status).toBe(400);
      expect((await facade.refresh(clientId, second)).status).toBe(400);
    } finally {
      await gateway.close();
    }
  });

  test('get the same successor, and it goes on', async () => {
    const gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000' }, yaml(60));
    try {
      const ada = await signedIn(gateway);
      const facade = await facadeOf(gateway.url);
      const clientId = await facade.register();
      const { refresh_token: first } = await connect(facade, ada, gateway.url, clientId);
      const answers = await Promise.all(
        Array.from({ length: 6 }, async () => (await facade.refresh(clientId, first)).json()),
      );
      // One whose answer was lost comes later.
      answers.push(await (await facade.refresh(clientId, first)).json());
      const successors = new Set((answers as Tokens[]).map(({ refresh_token: token }) => token));
      expect(successors.size).toBe(1);
      const [successor = ''] = successors;
      expect(successor).not.toBe(first);
      const next = await facade.refresh(clientId, successor);
      expect(next.status).toBe(200);
      // The successor was used: whoever has the first one now is not racing any more.
      expect((await facade.refresh(clientId, first)).status).toBe(400);
      const { refresh_token: last } = (await next.json()) as Tokens;
      expect((await facade.refresh(clientId, last)).status).toBe(400);
    } finally {
      await gateway.close();
    }
  });
});
