import { eventually, freePort, scriptedHttpServer, type ScriptedReply } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createDraftRigs } from './draftRig.ts';
import type { TestUser } from './users.ts';
import { readRecords } from './storeDump.ts';
import { completeSignIn } from './completeSignIn.ts';

describe('the tools of a server that nobody saved', () => {
  const begin = createDraftRigs();
  const problemOf = async (response: Response) => {
    const text = await response.text();
    const { code } = JSON.parse(text) as { code?: string };
    return { status: response.status, code, text };
  };

  test('are shown, the look is told of, and nothing is stored', async () => {
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    const tools = [{ name: 'say', title: 'Say it', description: 'Says <b>it</b>', inputSchema }];
    const { plain, mia, root, gateway, discoverView } = await begin({ plain: { era: 'both', tools } });
    expect(await discoverView(mia, { url: plain.url })).toEqual({ outcome: 'tools', tools });
    for (const name of ['servers', 'drafts', 'credentials', 'oauthClients'] as const) {
      expect([name, await readRecords(gateway, name)]).toEqual([name, []]);
    }
    const event = await eventually('the audit to tell it', async () => {
      const { events } = (await (await root.get('/api/admin/audit?kind=config')).json()) as {
        events: { action: string; subject?: string }[];
      };
      return events.find(({ action }) => action === 'server.discover');
    });
    expect(event).toMatchObject({ outcome: 'ok', subject: new URL(plain.url).host });
  });

  test('are shown for a key, where the server names no place to sign in', async () => {
    const key = 'k3y-that-is-right';
    const isRight = (headers: Record<string, unknown>) =>
      headers['authorization'] === `Bearer ${key}` || headers['x-own'] === key;
    const { plain, mia, gateway, discoverView } = await begin({
      plain: {
        era: 'legacy',
        tools: [{ name: 'open' }],
        respond: ({ path, headers }) => {
          if (path.startsWith('/.well-known/')) return { status: 404 };
          return isRight(headers) ? undefined : { status: 401 };
        },
      },
    });
    const { url } = plain;
    expect(await discoverView(mia, { url })).toEqual({ outcome: 'no_oauth_metadata', reason: 'no_metadata' });
    expect(await readRecords(gateway, 'drafts')).toEqual([]);
    const withKey = (auth: object) => discoverView(mia, { url, auth: { type: 'key', ...auth } });
    expect(await withKey({ key })).toMatchObject({ outcome: 'tools', tools: [{ name: 'open' }] });
    const own = { authorization_type: 'custom', custom_header: 'X-Own', key };
    expect(await withKey(own)).toMatchObject({ outcome: 'tools' });
    expect(await withKey({ key: 'wrong' })).toEqual({ outcome: 'credential_rejected', hint: 'key' });
    plain.change({ respond: () => ({ status: 403 }) });
    expect(await withKey({ key })).toEqual({ outcome: 'credential_rejected', hint: 'forbidden' });
    // A socket cannot carry the next token: nobody signs in there.
    const socket = await discoverView(mia, { url: url.replace('http', 'ws'), type: 'websocket' });
    expect(socket).toEqual({ outcome: 'no_oauth_metadata', reason: 'not_offered' });
  });

  test('are refused after a sign-in with what may be wrong', async () => {
    const { mcp, mia, gateway, discoverView, signIn } = await begin();
    const { draftId } = await signIn(mia);
    const auth = { type: 'draft', draftId };
    mcp.guard({ refuse: 'unauthorized' });
    expect(await discoverView(mia, { auth })).toMatchObject({
      ...{ outcome: 'credential_rejected', hint: 'audience', draftId, resource: mcp.url },
      scopes: 'mcp:read mcp:write offline_access',
    });
    mcp.guard({ refuse: 'forbidden' });
    expect(await discoverView(mia, { auth })).toMatchObject({ hint: 'forbidden' });
    mcp.guard({ refuse: 'nothing', requiredScope: 'mcp:admin' });
    const narrow = await discoverView(mia, { auth });
    expect(narrow).toMatchObject({
      outcome: 'credential_rejected',
      hint: 'scopes',
      wantedScopes: 'mcp:admin',
    });
    // Which is what another sign-in on the draft asks for.
    const wider = await mia.post(`/api/mcp/draft~${draftId}/oauth/start`, { scopes: 'mcp:admin' });
    expect(wider.status).toBe(201);
    expect((await completeSignIn(gateway.url, mia, wider)).pathname).toBe('/oauth/success');
    expect(await discoverView(mia, { auth })).toMatchObject({ outcome: 'tools' });
  });

  test('without a sign-in, the draft offers one', async () => {
    const { mia, discoverView } = await begin();
    const first = await discoverView(mia);
    if (first.outcome !== 'authorization_required') throw new Error(first.outcome);
    const { draftId, flowId } = first;
    const again = await discoverView(mia, { auth: { type: 'draft', draftId } });
    expect(again).toMatchObject({ outcome: 'authorization_required', draftId, flowId });
    const cancelled = await mia.post(`/api/mcp/oauth/cancel/draft~${draftId}`);
    expect(await cancelled.json()).toMatchObject({ success: true });
  });

  const harm = 'planted-words-of-a-stranger';
  const failures: Readonly<Record<string, ScriptedReply>> = {
    'an error page': { status: 500, body: harm },
    'no such page': { status: 404, body: harm },
    'another page': { status: 200, headers: { 'content-type': 'text/html' }, body: `<p>${harm}</p>` },
    'a redirect': { status: 302, headers: { location: `https://${harm}.example/` } },
    'an error of its own': {
      status: 200,
      body: { jsonrpc: '2.0', id: 0, error: { code: -32_000, message: harm, data: harm } },
    },
    'a wish for time': { status: 429, headers: { 'retry-after': '7' }, body: harm },
    'no answer': 'reset',
  };

  test('fail in our words alone, whatever is at the address', async () => {
    const { plain, mia, root, gateway, discoverTools } = await begin();
    for (const [name, reply] of Object.entries(failures)) {
      plain.change({ respond: () => reply });
      const { status, code, text } = await problemOf(await discoverTools(mia, { url: plain.url }));
      expect([name, status, code]).toEqual([
        name,
        502,
        expect.stringMatching(/^MCP_(UNREACHABLE|PROTOCOL_ERROR)$/),
      ]);
      expect([name, text.includes('planted')]).toEqual([name, false]);
    }
    expect(JSON.stringify(gateway.logged)).not.toContain('planted');
    const response = await (await root.get('/api/admin/audit')).text();
    expect(response).not.toContain('planted');
    expect(await readRecords(gateway, 'drafts')).toEqual([]);
  });

  test('are asked for at no address that users may not choose', async () => {
    const { mia, gateway, discoverTools } = await begin();
    const hidden = await scriptedHttpServer({ era: 'both', tools: [{ name: 'secret' }] });
    try {
      const closed = `http://127.0.0.1:${await freePort()}/mcp`;
      const places = [hidden.url, closed, 'http://169.254.169.254/latest', gateway.url, 'http://[::1]/mcp'];
      const auths = [{ type: 'none' }, { type: 'key', key: 'k3y-that-is-right' }];
      for (const url of places) {
        for (const auth of auths) {
          const { status, code } = await problemOf(await discoverTools(mia, { url, auth }));
          expect([url, status, code]).toEqual([url, 403, 'MCP_DOMAIN_NOT_ALLOWED']);
        }
      }
      expect(hidden.requests).toEqual([]);
    } finally {
      await hidden.close();
    }
  });

  test('are judged by what saving such a server would say', async () => {
    const { mia, discoverTools } = await begin();
    const said = async (request: object) => {
      const { status, code } = await problemOf(await discoverTools(mia, request));
      return [status, code];
    };
    for (const url of [
      'nonsense',
      'file:///etc/passwd',
      'https://${HOME}/mcp',
      'https://x/{{LIBRECHAT_USER_ID}}',
    ]) {
      expect([url, ...(await said({ url }))]).toEqual([url, 400, 'MCP_CONFIG_INVALID']);
    }
    const odd = [{ type: 'stdio' }, { auth: { type: 'key' } }, { auth: { type: 'draft', draftId: '../x' } }];
    for (const request of [...odd, { config: {} }]) {
      expect(await said(request)).toEqual([400, 'REQUEST_INVALID']);
    }
  });

  test('are asked for so many times and then not, by one user', async () => {
    const { plain, mia, eve, discoverTools } = await begin();
    const ask = (who: TestUser) => discoverTools(who, { url: plain.url });
    for (let n = 0; n < 30; n += 1) expect((await ask(mia)).status).toBe(200);
    const before = plain.requests.length;
    const refused = await ask(mia);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(plain.requests).toHaveLength(before);
    expect((await ask(eve)).status).toBe(200);
  });
});
