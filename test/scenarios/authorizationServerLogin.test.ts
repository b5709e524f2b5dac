import { createScriptedBrowser as createProviderBrowser, createTrustingFetch } from '@behalf/devidp';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  readConsentForm,
  createAuthorizationClient,
  followToClient,
  openAuthorization,
  type AuthorizationClientRig,
  type TokenResponse,
} from './authorizationServerRig.ts';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { oboUsers, startOboRig, type OboRig } from './oboRig.ts';
import { createVisitor } from './openIdGateway.ts';
import { toolCallPath } from './tokenCaller.ts';
import { createUsers } from './users.ts';

describe('a client of somebody who signs in at an identity provider', () => {
  let rig: OboRig;
  let authorizationClient: AuthorizationClientRig;

  beforeAll(async () => {
    const users = Array.from({ length: 9 }, (_, i) => ({
      ...oboUsers[1]!,
      id: `user-${i}`,
      name: `User ${i}`,
    }));
    rig = await startOboRig({
      provider: 'token-exchange',
      users: [...oboUsers, ...users],
      yaml: () => 'authorizationServer:\n  enabled: true\n  registration: { perMinute: 1000 }\n',
    });
    authorizationClient = await createAuthorizationClient(rig.url);
  }, 60_000);
  afterAll(() => rig.close());

  async function signedInAt(user: string) {
    const there = createProviderBrowser({ fetch: createTrustingFetch(rig.ca.caPem) });
    const here = createVisitor(rig, there);
    await here.signIn(user);
    return { ...here, there };
  }
  type SignedInVisitor = Awaited<ReturnType<typeof signedInAt>>;

  /** As far as the provider, which is asked for a grant of this client's own. */
  async function askedFor(browser: SignedInVisitor, clientId: string) {
    const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId);
    const page = await openAuthorization(browser, path, rig.url);
    const redirectLocation = page.headers.get('location');
    // They agreed before.
    if (redirectLocation !== null) return { verifier, url: new URL(redirectLocation) };
    const { action, token } = readConsentForm(await page.text());
    const sent = await browser.form(action, { token, decision: 'allow' });
    return { verifier, url: new URL(sent.headers.get('location') ?? '', rig.url) };
  }

  async function connected(
    browser: SignedInVisitor,
    user: string,
  ): Promise<TokenResponse & { clientId: string }> {
    const clientId = await authorizationClient.register();
    return reconnected(browser, user, clientId);
  }

  async function reconnected(browser: SignedInVisitor, user: string, clientId: string) {
    const { url, verifier } = await askedFor(browser, clientId);
    const finished = await browser.followCallback(await browser.there.signIn(url, user));
    const back = await followToClient(browser, finished, rig.url);
    const answer = await authorizationClient.redeemCode(
      clientId,
      back.searchParams.get('code') ?? '',
      verifier,
    );
    return { ...((await answer.json()) as TokenResponse), clientId };
  }

  const callWith = (token: string) =>
    sendModern(createKeyClient(token, rig.url, '/mcp/mail'), 'tools/call', { name: 'whoami', arguments: {} });
  const seenBy = async (token: string) => {
    const { status, message } = await callWith(token);
    const content = message.result?.['structuredContent'] as { subject?: string } | undefined;
    return content?.subject ?? status;
  };

  test('is exchanged for by its own grant at the provider, and only by that', async () => {
    const browser = await signedInAt('user-0');
    const before = rig.idp.requestLog.signIns.length;
    const { access_token: token } = await connected(browser, 'user-0');
    // It went there for it, and the browser has the session it had.
    expect(rig.idp.requestLog.signIns).toHaveLength(before + 1);
    expect((await browser.readUser())?.name).toBe('User 0');
    expect(await seenBy(token)).toBe('user-0');
    // A key of the same user uses sign-ins alone: without one, what belongs to a client is out of its reach.
    const made = await browser.post('/api/user/keys', { name: 'laptop', scopes: ['mcp', 'obo'] });
    const { key } = (await made.json()) as { key: string };
    expect(await seenBy(key)).toBe('user-0');
    await browser.post('/api/auth/logout', {});
    await eventually('the key has nothing', async () => (await seenBy(key)) !== 'user-0');
  });

  test('who signs out ends what is exchanged for them, by session, key and client alike', async () => {
    const browser = await signedInAt('user-1');
    const made = await browser.post('/api/user/keys', { name: 'laptop', scopes: ['mcp', 'obo'] });
    const { key } = (await made.json()) as { key: string };
    const { access_token: token, refresh_token: refreshToken, clientId } = await connected(browser, 'user-1');
    const bySession = async () => {
      const response = await browser.post(toolCallPath('mail', 'whoami'), { arguments: {} });
      return response.status;
    };
    expect(await bySession()).toBe(200);
    expect(await seenBy(key)).toBe('user-1');
    expect(await seenBy(token)).toBe('user-1');
    const uses = rig.mail.credentials.all().length;
    await browser.post('/api/auth/logout', {});
    await eventually('it is refused', async () => (await seenBy(token)) === 401);
    expect(await seenBy(key)).not.toBe('user-1');
    expect(await bySession()).toBe(401);
    expect(rig.mail.credentials.all()).toHaveLength(uses);
    // What was granted goes on, with nothing to exchange: the client asks its user anew.
    const next = await authorizationClient.refreshTokens(clientId, refreshToken);
    expect(next.status).toBe(200);
    expect(await seenBy(((await next.json()) as TokenResponse).access_token)).toBe(401);
  });

  test('ends with its user’s account, and with all their sign-ins', async () => {
    const [admin] = await createUsers(rig, [{ name: 'Root', role: 'ADMIN' }]);
    const disabled = await signedInAt('user-2');
    const disabledUser = await connected(disabled, 'user-2');
    expect(await seenBy(disabledUser.access_token)).toBe('user-2');
    const { id = '' } = (await disabled.readUser()) ?? {};
    const changed = await admin!.send('PATCH', `/api/admin/users/${id}`, { disabled: true });
    expect(changed.status).toBe(200);
    await eventually('it is refused', async () => (await seenBy(disabledUser.access_token)) === 401);
    expect(
      (await authorizationClient.refreshTokens(disabledUser.clientId, disabledUser.refresh_token)).status,
    ).toBe(400);

    const everywhere = await signedInAt('user-3');
    const out = await connected(everywhere, 'user-3');
    const { id: other = '' } = (await everywhere.readUser()) ?? {};
    await admin!.send('DELETE', `/api/admin/users/${other}/sessions`);
    await eventually('it is refused', async () => (await seenBy(out.access_token)) === 401);
    expect((await authorizationClient.refreshTokens(out.clientId, out.refresh_token)).status).toBe(400);
  });

  test('is asked for what the provider wants proven, when it comes again, and then no more', async () => {
    const browser = await signedInAt('user-6');
    const { access_token: token, clientId } = await connected(browser, 'user-6');
    const claims = JSON.stringify({ access_token: { acrs: { essential: true, value: 'c1' } } });
    rig.idp.switches.set({ kind: 'claims', claims }, { user: 'user-6' });
    expect(await seenBy(token)).toBe(401);
    const readSignInClaims = () => rig.idp.requestLog.signIns.at(-1)?.claims;
    const again = await reconnected(browser, 'user-6', clientId);
    expect(JSON.parse(readSignInClaims() ?? '{}')).toMatchObject(JSON.parse(claims) as object);
    expect(await seenBy(again.access_token)).toBe('user-6');
    await reconnected(browser, 'user-6', clientId);
    expect(readSignInClaims()).toBeUndefined();
  });

  test('is nobody’s who signs in there under another name', async () => {
    const browser = await signedInAt('user-4');
    const { url } = await askedFor(browser, await authorizationClient.register());
    const otherBrowser = createProviderBrowser({ fetch: createTrustingFetch(rig.ca.caPem) });
    const finished = await browser.followCallback(await otherBrowser.signIn(url, 'user-5'));
    expect(finished.headers.get('location')).toContain('error=forbidden');
    // Nor did it change who is signed in here.
    expect((await browser.readUser())?.name).toBe('User 4');
  });
});
