import type { DevUser } from '@behalf/devidp';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { subjectSeenByServer } from './oboCaller.ts';
import { OBO_AUDIENCE, startOboRig, type OboRig } from './oboRig.ts';
import {
  createOffsetClock,
  createReauthStatus,
  createSignedInVisitor,
  readSignIn,
} from './oboSignInVisitor.ts';
import { createUsers, type TestUser } from './users.ts';
import { createTokenCaller } from './tokenCaller.ts';

const users: DevUser[] = ['uma', 'gil', 'hal', 'ida', 'ada'].map((id) => ({
  ...{ id, email: `${id}@example.test`, name: id, ...(id === 'ada' && { roles: ['ADMIN'] }) },
}));

interface Reinitialized {
  readonly success: boolean;
  readonly code?: string;
  readonly tools: { readonly name: string }[] | null;
}

describe('servers that could be asked in another way', () => {
  const clock = createOffsetClock();
  let rig: OboRig;
  /** Shows its tools to anybody. */
  let open: ScriptedHttpServer;
  let local: TestUser;
  beforeAll(async () => {
    open = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'whoami' }] });
    const obo = "obo: { scopes: 'api://mail/.default' }";
    const at = (path: string) => `type: streamable-http\n    url: '${open.url}?${path}'\n    ${obo}\n`;
    rig = await startOboRig({
      ...{ users, clock },
      allowedAddresses: [`127.0.0.1:${open.port}`],
      variables: {
        OPENID_ADMIN_ROLE: 'ADMIN',
        OPENID_ADMIN_ROLE_TOKEN_KIND: 'access',
        GRAPH_API_SCOPES: 'api://mail/Mail.Read',
      },
      yaml: () => `  open:
    ${at('open')}
  keyed:
    ${at('keyed')}
    headers: { X-Key: '{{KEY}}' }
    customUserVars: { KEY: { title: Key, description: Yours } }
  graph:
    type: streamable-http
    url: '${open.url}?graph'
    headers: { X-Graph: 'Token {{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' }
`,
    });
    [local] = (await createUsers(rig, ['Local'])) as [TestUser];
  }, 60_000);
  beforeEach(() => {
    rig.idp.switches.clear();
    rig.mail.acceptTokens();
    rig.idp.requestLog.clear();
    rig.mail.credentials.clear();
    seen = open.requests.length;
  });
  afterAll(async () => {
    await rig.close();
    await open.close();
  });

  let seen = 0;
  /** What the open server was sent since the test began. */
  const sent = () => open.requests.slice(seen).map(({ headers }) => headers);
  const subjectOf = (header: unknown) => decodeJwt(String(header).replace(/^\w+ /, '')).sub;
  const keyFor = (pluginKey: string) => ({ pluginKey, action: 'install', auth: { KEY: 'k-of-mine' } });

  async function reinit(who: { post: TestUser['post'] }, server: string): Promise<Reinitialized> {
    const response = await who.post(`/api/mcp/${server}/reinitialize`, {});
    expect(response.status).toBe(200);
    return (await response.json()) as Reinitialized;
  }

  test('a key that the user entered takes no token’s place', async () => {
    await local.post('/api/user/plugins', keyFor('mcp_keyed'));
    expect(readSignIn(await local.call('keyed', 'whoami'))).toEqual(createReauthStatus('absent', 'keyed'));
    expect(sent()).toEqual([]);
    const browser = await createSignedInVisitor(rig, 'uma');
    expect(await browser.call('keyed')).toMatchObject({
      status: 424,
      body: { code: 'MCP_USER_VARS_MISSING' },
    });
    expect(rig.idp.requestLog.count()).toBe(0);
    await browser.post('/api/user/plugins', keyFor('mcp_keyed'));
    rig.idp.switches.set({ kind: 'fail' }, { user: 'uma' });
    expect(await browser.call('keyed')).toMatchObject({ status: 503, body: { code: 'OBO_TEMPORARY' } });
    expect(sent()).toEqual([]);
    rig.idp.switches.clear();
    expect(await browser.call('keyed')).toMatchObject({ status: 200 });
    expect(sent().length).toBeGreaterThan(0);
    for (const headers of sent()) {
      expect([subjectOf(headers.authorization), headers['x-key']]).toEqual(['uma', 'k-of-mine']);
    }
  });

  test('who is signed in is connected, with their own token', async () => {
    const browser = await createSignedInVisitor(rig, 'uma');
    expect(await reinit(browser, 'mail')).toMatchObject({ success: true, tools: [{ name: 'whoami' }, {}] });
    expect(rig.mail.credentials.all()).toMatchObject([{ subject: 'uma', audience: 'mail-api' }]);
  });

  test('who has nothing to exchange sees what anybody is shown', async () => {
    const nothing = { code: 'OBO_SUBJECT_TOKEN_MISSING' };
    expect(await reinit(local, 'open')).toMatchObject({
      ...{ success: true, oauthRequired: false, tools: [{ name: 'whoami' }] },
      ...nothing,
    });
    expect(sent().length).toBeGreaterThan(0);
    for (const { authorization, cookie } of sent())
      expect([authorization, cookie]).toEqual([undefined, undefined]);
    expect(await reinit(local, 'mail')).toMatchObject({ success: false, tools: null, ...nothing });
    // Neither carried anything, and to call it takes a token all the same.
    expect(rig.mail.credentials.all().map(({ hash }) => hash)).toEqual(['']);
    expect(readSignIn(await local.call('open', 'whoami'))).toEqual(createReauthStatus('absent', 'open'));
    expect(open.received('tools/call').filter(({ path }) => path.endsWith('?open'))).toEqual([]);
  });

  test('who was refused sees nothing, and nothing is sent', async () => {
    const browser = await createSignedInVisitor(rig, 'hal');
    users.splice(
      users.findIndex(({ id }) => id === 'hal'),
      1,
    );
    expect(await reinit(browser, 'open')).toMatchObject({
      ...{ success: false, tools: null, code: 'OBO_REJECTED', oauthRequired: false },
    });
    expect(sent()).toEqual([]);
  });

  test('a provider that fails is no reason to ask bare', async () => {
    const browser = await createSignedInVisitor(rig, 'ida');
    rig.idp.switches.set({ kind: 'fail' }, { user: 'ida' });
    expect(await reinit(browser, 'open')).toMatchObject({
      ...{ success: false, tools: null, code: 'OBO_TEMPORARY', retryable: true },
    });
    expect(sent()).toEqual([]);
  });

  test('a server that is not trusted any more is not asked at all', async () => {
    const ada = createTokenCaller(rig.url, rig.mintToken('ada'));
    const config = {
      ...{ type: 'streamable-http', url: `${open.url}?stored`, title: 'Mine' },
      obo: { scopes: 'api://mail/.default' },
    };
    const made = await ada.send('POST', '/api/mcp/servers', { config });
    expect(made.status).toBe(201);
    const { serverName } = (await made.json()) as { serverName: string };
    const admin = users.find(({ id }) => id === 'ada');
    if (admin) admin.roles = ['USER'];
    // Only a token that is younger than the last takes a role away.
    clock.advance(2_000);
    const former = createTokenCaller(rig.url, rig.mintToken('ada'));
    seen = open.requests.length;
    const response = await former.send('POST', `/api/mcp/${serverName}/reinitialize`, {});
    expect(await response.json()).toMatchObject({ success: false, code: 'MCP_OBO_FORBIDDEN', tools: null });
    expect(sent()).toEqual([]);
    expect(rig.idp.requestLog.count()).toBe(0);
  });

  test('the Graph placeholder is each caller’s own token, and never the text', async () => {
    for (const user of ['uma', 'gil']) {
      seen = open.requests.length;
      expect(await (await createSignedInVisitor(rig, user)).call('graph')).toMatchObject({ status: 200 });
      expect(sent().length).toBeGreaterThan(0);
      for (const headers of sent()) {
        expect(headers.authorization).toBeUndefined();
        expect(headers['x-graph']).toMatch(/^Token ey/);
        const { sub, aud } = decodeJwt(String(headers['x-graph']).slice('Token '.length));
        expect({ sub, aud }).toEqual({ sub: user, aud: 'mail-api' });
        expect(aud).not.toBe(OBO_AUDIENCE);
      }
    }
    expect(rig.idp.requestLog.entries.map(({ scope }) => scope?.split(' ')[0])).toEqual(
      Array(2).fill('api://mail/Mail.Read'),
    );
  });

  test('without it nothing is sent', async () => {
    expect(readSignIn(await local.call('graph', 'whoami'))).toEqual(createReauthStatus('absent', 'graph'));
    const browser = await createSignedInVisitor(rig, 'ida');
    rig.idp.switches.set({ kind: 'empty-token' }, { user: 'ida' });
    expect(await browser.call('graph')).toMatchObject({
      status: 502,
      body: { code: 'OBO_EMPTY_RESPONSE' },
    });
    expect(sent()).toEqual([]);
    rig.idp.switches.clear();
    // For as long it is not asked again.
    clock.advance(2_001);
    expect(await browser.call('graph')).toMatchObject({ status: 200 });
    expect(subjectSeenByServer(await browser.call('mail'))).toBe('ida');
  });
});
