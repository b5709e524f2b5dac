import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createDraftRigs, type DraftRig } from './draftRig.ts';
import { GatewayBrowser, readLocation } from './oauthRig.ts';
import type { TestUser } from './users.ts';
import { readRecords } from './storeDump.ts';
import { completeSignIn } from './completeSignIn.ts';

const HOURS = 60 * 60 * 1000;

describe('a sign-in before a server is saved', () => {
  const begin = createDraftRigs();

  /** What the server makes of a call: its own answer, or that somebody has to sign in first. */
  async function works(who: TestUser, server = 'mine'): Promise<boolean> {
    const { status, body } = await who.call(server, 'echo', { text: 'hello' });
    return status === 200 && body.isError !== true;
  }
  const credentialsOf = async (who: TestUser, server = 'mine') => {
    const response = await who.get(`/api/mcp/${server}/credentials`);
    return ((await response.json()) as { credentials: { status: string }[] }).credentials;
  };
  /** Nothing of a draft is left: not here, and not at the authorization server. */
  async function isGone({ as, gateway }: DraftRig): Promise<void> {
    await eventually('the grant to be revoked', () => as.counters.revocations > 0);
    expect(await readRecords(gateway, 'drafts')).toEqual([]);
    expect(await readRecords(gateway, 'credentials')).toEqual([]);
    expect(await readRecords(gateway, 'oauthClients')).toEqual([]);
  }

  test('shows the tools, and nothing of it is a server', async () => {
    const { as, mcp, mia, gateway, discoverTools, discoverView, signIn } = await begin();
    const discovery = await discoverTools(mia);
    // Asked again, it is the same one: nobody is registered twice.
    const first = await discoverView(mia);
    if (first.outcome !== 'authorization_required') throw new Error(first.outcome);
    expect(first.expiresAt).toBeGreaterThanOrEqual(first.flowExpiresAt);
    const { draftId, end } = await signIn(mia, discovery);
    expect([draftId, end.pathname]).toEqual([first.draftId, '/oauth/success']);
    expect(as.counters).toMatchObject({ registrations: 1, authorizations: 1 });
    const status = await mia.get(`/api/mcp/oauth/status/${first.flowId}`);
    expect(await status.json()).toMatchObject({ status: 'COMPLETED', probe: 'ok' });
    expect(await discoverView(mia, { auth: { type: 'draft', draftId } })).toMatchObject({
      ...{ outcome: 'tools', draftId },
      tools: [{ name: 'echo' }, { name: 'write' }],
    });
    expect(mcp.guardedRequests.at(-1)?.token).toMatchObject({ resource: mcp.url });
    // Without it the server is asked without: what somebody has is used when they say so.
    expect((await discoverView(mia)).outcome).toBe('authorization_required');
    expect(await (await mia.get('/api/mcp/servers')).json()).toEqual({});
    expect(await readRecords(gateway, 'servers')).toEqual([]);
    for (const path of [`/api/mcp/servers/draft~${draftId}`, `/api/mcp/servers/draft~${draftId}/tools`]) {
      expect((await mia.get(path)).status).toBe(404);
    }
    expect((await mia.call(`draft~${draftId}`, 'echo')).status).toBe(404);
  });

  test('is that of the saved server, which is renewed as the client it was given to', async () => {
    for (const registeredAuthMethod of ['none', 'client_secret_basic']) {
      const { as, mia, signIn, save, clock } = await begin({
        as: {
          registeredAuthMethod,
          metadata: { token_endpoint_auth_methods_supported: [registeredAuthMethod] },
        },
      });
      const { draftId } = await signIn(mia);
      const saved = await save(mia, draftId);
      expect(saved).toMatchObject({ draft: 'kept', serverName: 'mine', dbId: draftId });
      expect(await works(mia)).toBe(true);
      expect(await credentialsOf(mia)).toMatchObject([{ status: 'active' }]);
      expect(as.counters).toMatchObject({ authorizations: 1, registrations: 1, refreshHits: 0 });
      clock.advance(2 * HOURS);
      expect(await works(mia)).toBe(true);
      expect(as.counters).toMatchObject({ authorizations: 1, registrations: 1, rotations: 1, reuses: 0 });
      expect(as.received('token').at(-1)?.clientAuth?.method).toBe(registeredAuthMethod);
    }
  });

  test('goes on when others sign in at the server, each as the client of their own sign-in', async () => {
    const { as, gateway, mia, eve, root, signIn, save, clock } = await begin();
    const { draftId } = await signIn(mia);
    await save(mia, draftId);
    const shared = await root.send('PUT', `/api/permissions/mcpServer/${draftId}`, {
      updated: [{ type: 'user', id: eve.id, accessRoleId: 'mcpServer_viewer' }],
      ...{ removed: [], public: false },
    });
    expect(shared.status).toBe(200);
    expect(await works(eve)).toBe(false);
    const started = await eve.post('/api/mcp/mine/oauth/start');
    expect((await completeSignIn(gateway.url, eve, started)).pathname).toBe('/oauth/success');
    // The redirect of the draft is not that of the server.
    expect(as.counters.registrations).toBe(2);
    clock.advance(2 * HOURS);
    expect([await works(mia), await works(eve)]).toEqual([true, true]);
    expect(as.counters).toMatchObject({ authorizations: 2, rotations: 2, reuses: 0 });
    // Nothing of it is left when the server goes.
    expect((await mia.send('DELETE', '/api/mcp/servers/mine')).status).toBe(200);
    expect(await readRecords(gateway, 'oauthClients')).toEqual([]);
    expect(await readRecords(gateway, 'credentials')).toEqual([]);
  });

  test('by one of all who save it at once', async () => {
    const { mia, gateway, signIn, save } = await begin();
    const { draftId } = await signIn(mia);
    const saved = await Promise.all([1, 2, 3].map((n) => save(mia, draftId, { title: `Mine ${n}` })));
    const remaining = saved.filter(({ draft }) => draft === 'kept');
    expect(remaining.map(({ dbId }) => dbId)).toEqual([draftId]);
    expect(saved.filter(({ draft }) => draft === 'dropped')).toHaveLength(2);
    expect(await works(mia, remaining[0]?.serverName)).toBe(true);
    expect(await readRecords(gateway, 'credentials')).toHaveLength(1);
  });

  test('on whichever replica it is gone on with', async () => {
    const { mia, mcp, startReplica, discoverView, save, gateway } = await begin();
    const other = await startReplica();
    const here = new GatewayBrowser(gateway.url, mia);
    const there = here.withBase(other.url);
    const pathOf = ({ pathname, search }: URL) => pathname + search;
    const discovery = await here.post('/api/mcp/discover-tools', { url: mcp.url });
    const { draftId, connectUrl } = (await discovery.json()) as { draftId: string; connectUrl: string };
    const left = await there.open(pathOf(new URL(connectUrl)));
    const back = readLocation(await fetch(readLocation(left), { redirect: 'manual' }));
    expect(readLocation(await here.open(pathOf(back))).pathname).toBe('/oauth/success');
    expect((await discoverView(other.mia, { auth: { type: 'draft', draftId } })).outcome).toBe('tools');
    expect(await save(other.mia, draftId)).toMatchObject({ draft: 'kept', dbId: draftId });
    await eventually('the other replica to know it', () => works(mia));
    expect(await readRecords(gateway, 'credentials')).toMatchObject([
      { status: 'active', serverId: draftId },
    ]);
  });

  test('is dropped and revoked where another address is saved', async () => {
    const rig = await begin();
    const { mia, mcp, otherServer, signIn, save } = rig;
    const { draftId } = await signIn(mia);
    const saved = await save(mia, draftId, { url: otherServer.url });
    expect(saved).toMatchObject({ draft: 'dropped' });
    expect(saved.dbId).not.toBe(draftId);
    await isGone(rig);
    expect(await works(mia)).toBe(false);
    expect(otherServer.guardedRequests.filter(({ bearer }) => bearer !== null)).toEqual([]);
    // Another spelling is no other address.
    const again = await signIn(mia);
    const spelt = await save(mia, again.draftId, { url: mcp.url.replace('http:', 'HTTP:'), title: 'Spelt' });
    expect(spelt).toMatchObject({ draft: 'kept', dbId: again.draftId });
  });

  test('is dropped and revoked where the server names another issuer by then', async () => {
    const rig = await begin();
    const { mia, mcp, otherIssuer, signIn, save } = rig;
    const { draftId } = await signIn(mia);
    mcp.guard({ metadata: { authorization_servers: [otherIssuer.issuer] } });
    const saved = await save(mia, draftId);
    expect(saved).toMatchObject({ draft: 'dropped' });
    expect(saved.dbId).not.toBe(draftId);
    await isGone(rig);
    mcp.guard({ metadata: {} });
    expect(await works(mia)).toBe(false);
    expect(await credentialsOf(mia)).toEqual([]);
  });
});
