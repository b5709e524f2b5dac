import { describe, expect, test } from '@jest/globals';
import { createDraftRigs } from './draftRig.ts';
import { GatewayBrowser, readLocation } from './oauthRig.ts';
import { createPlantedSecrets } from './plantedSecrets.ts';
import { httpDefinition } from './serverYaml.ts';
import { readRecords, dumpStore } from './storeDump.ts';

const QUARTER = 15 * 60 * 1000;
const json = { accept: 'application/json' };

describe('a draft of a server', () => {
  const begin = createDraftRigs();
  const codeOf = async (response: Response) => {
    const { code } = (await response.json()) as { code?: string };
    return [response.status, code];
  };

  test('is of no use to anybody else, and they change nothing of it', async () => {
    const { mcp, mia, eve, gateway, discoverTools, signIn, save } = await begin();
    const discovery = await discoverTools(mia);
    const { flowId, connectUrl } = (await discovery.clone().json()) as { flowId: string; connectUrl: string };
    const hers = new GatewayBrowser(gateway.url, eve);
    // Sent the link, she is told what somebody is told who made it up; and her browser never leaves for anywhere.
    expect(await codeOf(await hers.open(connectUrl, { headers: json }))).toEqual([
      404,
      'MCP_SERVER_NOT_FOUND',
    ]);
    const { draftId } = await signIn(mia, discovery);
    const before = mcp.guardedRequests.length;
    for (const id of [draftId, 'unknown']) {
      const auth = { type: 'draft', draftId: id };
      expect(await codeOf(await discoverTools(eve, { auth }))).toEqual([404, 'MCP_DRAFT_NOT_FOUND']);
    }
    for (const path of [`draft~${draftId}/oauth/start`, `oauth/cancel/draft~${draftId}`]) {
      expect(await codeOf(await eve.post(`/api/mcp/${path}`))).toEqual([404, 'MCP_SERVER_NOT_FOUND']);
    }
    expect(await codeOf(await eve.get(`/api/mcp/oauth/status/${flowId}`))).toEqual([
      403,
      'MCP_FLOW_FORBIDDEN',
    ]);
    expect(mcp.guardedRequests.slice(before)).toEqual([]);
    const response = await save(eve, draftId);
    expect(response).toMatchObject({ draft: 'dropped' });
    expect(response.dbId).not.toBe(draftId);
    // What is hers is still hers.
    expect(await save(mia, draftId)).toMatchObject({ draft: 'kept', dbId: draftId });
  });

  test('is signed in at by the browser that began it, or after a question', async () => {
    const { as, mcp, mia, gateway } = await begin();
    const own = new GatewayBrowser(gateway.url, mia);
    const discovery = await own.post('/api/mcp/discover-tools', { url: mcp.url });
    const { connectUrl } = (await discovery.json()) as { connectUrl: string };
    const response = await new GatewayBrowser(gateway.url, mia).open(connectUrl);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Connect New server?');
    const anonymous = await new GatewayBrowser(gateway.url).open(connectUrl);
    expect([anonymous.status, readLocation(anonymous).pathname]).toEqual([302, '/']);
    const left = await own.open(connectUrl);
    expect([left.status, readLocation(left).origin]).toEqual([302, new URL(as.issuer).origin]);
  });

  test('is over after a quarter of an hour, with everything in it', async () => {
    const { as, mcp, mia, clock, gateway, discoverTools, signIn, save } = await begin();
    const { draftId } = await signIn(mia);
    clock.advance(QUARTER - 1);
    const auth = { type: 'draft', draftId };
    expect((await discoverTools(mia, { auth })).status).toBe(200);
    clock.advance(1);
    const before = mcp.guardedRequests.length;
    expect(await codeOf(await discoverTools(mia, { auth }))).toEqual([404, 'MCP_DRAFT_NOT_FOUND']);
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
    expect((await readRecords(gateway, 'servers')).map(({ id }) => id)).toEqual([saved.dbId]);
  });

  test('shows its token to the address it was given for and to no other', async () => {
    const { mcp, otherServer, mia, discoverTools, signIn } = await begin();
    const { draftId } = await signIn(mia);
    const auth = { type: 'draft', draftId };
    const before = mcp.guardedRequests.length;
    for (const request of [{ url: otherServer.url }, { url: `${mcp.url}?x=1` }, { type: 'sse' }]) {
      expect(await codeOf(await discoverTools(mia, { auth, ...request }))).toEqual([
        409,
        'MCP_CREDENTIAL_UNBOUND',
      ]);
    }
    expect([mcp.guardedRequests.slice(before), otherServer.guardedRequests]).toEqual([[], []]);
  });

  test('leads nobody to an authorization server of the operator’s own', async () => {
    const { as, otherServer, mia, gateway, discoverTools } = await begin({
      settings: ({ mcp }) => ({ mcpServers: { files: httpDefinition(mcp.url, { requiresOAuth: true }) } }),
    });
    // A hostile server that names it: what it gives would be good at `files`, and would be sent to the attacker.
    const answer = await discoverTools(mia, { url: otherServer.url });
    expect(await codeOf(answer)).toEqual([403, 'MCP_AUTHORIZATION_SERVER_REFUSED']);
    expect(as.counters).toMatchObject({ registrations: 0, authorizations: 0 });
    expect(await readRecords(gateway, 'drafts')).toEqual([]);
  });

  test('is gone on with by who may create servers, and by nobody else', async () => {
    const { mia, root, gateway, discoverTools, signIn } = await begin();
    const discovery = await discoverTools(mia);
    const { draftId } = await signIn(mia, discovery.clone());
    const change = await root.send('PATCH', '/api/admin/roles/MAKER', {
      permissions: { MCP_SERVERS: { USE: true, CREATE: false } },
    });
    expect(change.status).toBe(200);
    expect(await codeOf(await discoverTools(mia, { auth: { type: 'draft', draftId } }))).toEqual([
      403,
      'MCP_FORBIDDEN',
    ]);
    const { connectUrl } = (await discovery.json()) as { connectUrl: string };
    const browser = new GatewayBrowser(gateway.url, mia);
    expect(await codeOf(await browser.open(connectUrl, { headers: json }))).toEqual([403, 'MCP_FORBIDDEN']);
  });

  test('leaves no key, token or address of its user in the clear', async () => {
    const { mcp, plain, mia, root, gateway, discoverTools, signIn, save } = await begin();
    const planted = createPlantedSecrets();
    const key = planted.create('key');
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
    expect(await said(await discoverTools(mia, keyed))).toContain('[redacted]');
    expect(plain.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    const query = encodeURIComponent(planted.create('query'));
    await signIn(mia, await discoverTools(mia, { url: `${mcp.url}?key=${query}` }));
    const { draftId } = await signIn(mia);
    expect(await said(await discoverTools(mia, { auth: { type: 'draft', draftId } }))).toContain(
      '[redacted]',
    );
    const bearers = new Set(mcp.guardedRequests.flatMap(({ bearer }) => bearer ?? []));
    expect(bearers.size).toBeGreaterThanOrEqual(2);
    for (const bearer of bearers) planted.add(`token ${bearer.slice(0, 4)}`, bearer);
    await save(mia, draftId);
    await said(await root.get('/api/admin/audit'));
    expect(planted.findIn(answers.join('\n'))).toEqual([]);
    expect(planted.findIn(await dumpStore(gateway))).toEqual([]);
    expect(planted.findIn(JSON.stringify(gateway.logged))).toEqual([]);
  });
});
