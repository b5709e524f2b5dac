import { describe, expect, test } from '@jest/globals';
import { createDraftScenes } from './draftScene.ts';
import { Browser, locationOf } from './oauthScene.ts';
import { createPlanted } from './planted.ts';
import { http } from './serverYaml.ts';
import { recordsOf, storeDump } from './storeDump.ts';

const QUARTER = 15 * 60 * 1000;
const json = { accept: 'application/json' };

describe('a draft of a server', () => {
  const begin = createDraftScenes();
  const codeOf = async (response: Response) => {
    const { code } = (await response.json()) as { code?: string };
    return [response.status, code];
  };

  test('is of no use to anybody else, and they change nothing of it', async () => {
    const { mcp, mia, eve, gateway, discover, signIn, save } = await begin();
    const begun = await discover(mia);
    const { flowId, connectUrl } = (await begun.clone().json()) as { flowId: string; connectUrl: string };
    const hers = new Browser(gateway.url, eve);
    // Sent the link, she is told what somebody is told who made it up; and her browser never leaves for anywhere.
    expect(await codeOf(await hers.go(connectUrl, { headers: json }))).toEqual([404, 'MCP_SERVER_NOT_FOUND']);
    const { draftId } = await signIn(mia, begun);
    const before = mcp.guardedRequests.length;
    for (const id of [draftId, 'unknown']) {
      const auth = { type: 'draft', draftId: id };
      expect(await codeOf(await discover(eve, { auth }))).toEqual([404, 'MCP_DRAFT_NOT_FOUND']);
    }
    for (const path of [`draft~${draftId}/oauth/start`, `oauth/cancel/draft~${draftId}`]) {
      expect(await codeOf(await eve.post(`/api/mcp/${path}`))).toEqual([404, 'MCP_SERVER_NOT_FOUND']);
    }
    expect(await codeOf(await eve.get(`/api/mcp/oauth/status/${flowId}`))).toEqual([
      403,
      'MCP_FLOW_FORBIDDEN',
    ]);
    expect(mcp.guardedRequests.slice(before)).toEqual([]);
    const taken = await save(eve, draftId);
    expect(taken).toMatchObject({ draft: 'dropped' });
    expect(taken.dbId).not.toBe(draftId);
    // What is hers is still hers.
    expect(await save(mia, draftId)).toMatchObject({ draft: 'kept', dbId: draftId });
  });

  test('is signed in at by the browser that began it, or after a question', async () => {
    const { as, mcp, mia, gateway } = await begin();
    const own = new Browser(gateway.url, mia);
    const begun = await own.post('/api/mcp/discover-tools', { url: mcp.url });
    const { connectUrl } = (await begun.json()) as { connectUrl: string };
    const asked = await new Browser(gateway.url, mia).go(connectUrl);
    expect(asked.status).toBe(200);
    expect(await asked.text()).toContain('Connect New server?');
    const nobody = await new Browser(gateway.url).go(connectUrl);
    expect([nobody.status, locationOf(nobody).pathname]).toEqual([302, '/']);
    const left = await own.go(connectUrl);
    expect([left.status, locationOf(left).origin]).toEqual([302, new URL(as.issuer).origin]);
  });

  test('is over after a quarter of an hour, with everything in it', async () => {
    const { as, mcp, mia, clock, gateway, discover, signIn, save } = await begin();
    const { draftId } = await signIn(mia);
    clock.move(QUARTER - 1);
    const auth = { type: 'draft', draftId };
    expect((await discover(mia, { auth })).status).toBe(200);
    clock.move(1);
    const before = mcp.guardedRequests.length;
    expect(await codeOf(await discover(mia, { auth }))).toEqual([404, 'MCP_DRAFT_NOT_FOUND']);
    expect(await codeOf(await mia.post(`/api/mcp/draft~${draftId}/oauth/start`))).toEqual([
      404,
      'MCP_SERVER_NOT_FOUND',
    ]);
    expect(mcp.guardedRequests.slice(before)).toEqual([]);
    const saved = await save(mia, draftId);
    expect(saved).toMatchObject({ draft: 'dropped' });
    expect(saved.dbId).not.toBe(draftId);
    expect((await mia.call('mine', 'echo')).body.isError).toBe(true);
    expect(as.counters.refreshHits).toBe(0);
    expect((await recordsOf(gateway, 'servers')).map(({ id }) => id)).toEqual([saved.dbId]);
  });

  test('shows its token to the address it was given for and to no other', async () => {
    const { mcp, other, mia, discover, signIn } = await begin();
    const { draftId } = await signIn(mia);
    const auth = { type: 'draft', draftId };
    const before = mcp.guardedRequests.length;
    for (const request of [{ url: other.url }, { url: `${mcp.url}?x=1` }, { type: 'sse' }]) {
      expect(await codeOf(await discover(mia, { auth, ...request }))).toEqual([
        409,
        'MCP_CREDENTIAL_UNBOUND',
      ]);
    }
    expect([mcp.guardedRequests.slice(before), other.guardedRequests]).toEqual([[], []]);
  });

  test('leads nobody to an authorization server of the operator’s own', async () => {
    const { as, other, mia, gateway, discover } = await begin({
      settings: ({ mcp }) => ({ mcpServers: { files: http(mcp.url, { requiresOAuth: true }) } }),
    });
    // A hostile server that names it: what it gives would be good at `files`, and would be sent to the attacker.
    const answer = await discover(mia, { url: other.url });
    expect(await codeOf(answer)).toEqual([403, 'MCP_AUTHORIZATION_SERVER_REFUSED']);
    expect(as.counters).toMatchObject({ registrations: 0, authorizations: 0 });
    expect(await recordsOf(gateway, 'drafts')).toEqual([]);
  });

  test('is gone on with by who may create servers, and by nobody else', async () => {
    const { mia, root, gateway, discover, signIn } = await begin();
    const begun = await discover(mia);
    const { draftId } = await signIn(mia, begun.clone());
    const change = await root.send('PATCH', '/api/admin/roles/MAKER', {
      permissions: { MCP_SERVERS: { USE: true, CREATE: false } },
    });
    expect(change.status).toBe(200);
    expect(await codeOf(await discover(mia, { auth: { type: 'draft', draftId } }))).toEqual([
      403,
      'MCP_FORBIDDEN',
    ]);
    const { connectUrl } = (await begun.json()) as { connectUrl: string };
    const browser = new Browser(gateway.url, mia);
    expect(await codeOf(await browser.go(connectUrl, { headers: json }))).toEqual([403, 'MCP_FORBIDDEN']);
  });

  test('leaves no key, token or address of its user in the clear', async () => {
    const { mcp, plain, mia, root, gateway, discover, signIn, save } = await begin();
    const planted = createPlanted();
    const key = planted.make('key');
    const answers: string[] = [];
    const said = async (response: Response) => {
      const text = await response.text();
      answers.push(text);
      return text;
    };
    const repeating: Parameters<typeof mcp.change>[0] = {
      respond({ message, headers }) {
        // It repeats what it is shown, as a server that means harm would.
        const shown = headers.authorization ?? '';
        if (message?.method !== 'tools/list') return undefined;
        const inputSchema = { type: 'object', description: shown };
        const tools = [{ name: 'echo', title: shown, description: `I saw ${shown}`, inputSchema }];
        return { status: 200, body: { jsonrpc: '2.0', id: message.id, result: { tools } } };
      },
    };
    mcp.change(repeating);
    plain.change(repeating);
    const keyed = { url: plain.url, auth: { type: 'key', key } };
    expect(await said(await discover(mia, keyed))).toContain('[redacted]');
    expect(plain.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    const query = encodeURIComponent(planted.make('query'));
    await signIn(mia, await discover(mia, { url: `${mcp.url}?key=${query}` }));
    const { draftId } = await signIn(mia);
    expect(await said(await discover(mia, { auth: { type: 'draft', draftId } }))).toContain('[redacted]');
    const bearers = new Set(mcp.guardedRequests.flatMap(({ bearer }) => bearer ?? []));
    expect(bearers.size).toBeGreaterThanOrEqual(2);
    for (const bearer of bearers) planted.add(`token ${bearer.slice(0, 4)}`, bearer);
    await save(mia, draftId);
    await said(await root.get('/api/admin/audit'));
    expect(planted.foundIn(answers.join('\n'))).toEqual([]);
    expect(planted.foundIn(await storeDump(gateway))).toEqual([]);
    expect(planted.foundIn(JSON.stringify(gateway.logged))).toEqual([]);
  });
});
