import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeSignInRigs,
  createSignInRig,
  createSignInServerRig,
  followRedirect,
} from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const bob = aPrincipal({ userId: 'u-bob', authentication: { via: 'session', session: 'session-of-bob' } });

describe('beginning a sign-in at a server', () => {
  test('somebody else’s link is refused before the authorization server is reached', async () => {
    const { as, flows, allowedServer } = await createSignInServerRig();
    const { flow, browserSecret = null } = await flows.start(allowedServer('files'), aPrincipal(), {
      bindsBrowser: true,
    });
    const link = { flowId: flow.flowId, serverName: 'files', principal: bob, browserSecret };
    await expect(flows.open(link)).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    const { token } = (await flows.open({ ...link, principal: aPrincipal(), browserSecret: null })) as {
      token: string;
    };
    await expect(flows.confirm({ ...link, token })).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    expect(as.received('authorize')).toEqual([]);
    // The one whose link it is can go on.
    expect(await flows.open({ ...link, principal: aPrincipal() })).toMatchObject({ kind: 'leave' });
  });

  test('the address that is handed out is ours and holds nothing but the flow', async () => {
    const { as, flows, allowedServer } = await createSignInServerRig();
    const { flow } = await flows.start(allowedServer('files'), aPrincipal());
    expect(flow.connectUrl).toBe(`http://localhost:3080/api/mcp/files/oauth/initiate?flowId=${flow.flowId}`);
    expect(flow.connectUrl).not.toContain(new URL(as.issuer).host);
  });

  test('a browser that did not begin it is asked, and the question cannot be answered for it', async () => {
    const { flows, allowedServer } = await createSignInServerRig();
    const { flow } = await flows.start(allowedServer('files'), aPrincipal());
    const link = { flowId: flow.flowId, serverName: 'files', principal: aPrincipal(), browserSecret: null };
    const openResult = await flows.open(link);
    expect(openResult).toMatchObject({
      kind: 'ask',
      serverHost: '127.0.0.1',
      authorizationHost: '127.0.0.1',
      isThirdParty: false,
    });
    if (openResult.kind !== 'ask') throw new Error('not asked');
    const { token } = openResult;
    for (const wrong of ['', `${token}x`, token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
      await expect(flows.confirm({ ...link, token: wrong })).rejects.toMatchObject({
        code: 'CSRF_REFUSED',
      });
    }
    const otherSession = aPrincipal({ authentication: { via: 'session', session: 'another session' } });
    await expect(flows.confirm({ ...link, principal: otherSession, token })).rejects.toMatchObject({
      code: 'CSRF_REFUSED',
    });
    expect(await flows.confirm({ ...link, token })).toMatchObject({ kind: 'leave' });
  });

  test('a second start joins the first', async () => {
    const { flows, allowedServer, mcp } = await createSignInServerRig();
    const first = await flows.start(allowedServer('files'), aPrincipal());
    const requestsBefore = mcp.requests.length;
    const second = await flows.start(allowedServer('files'), aPrincipal());
    expect(second).toMatchObject({ isJoined: true, flow: first.flow });
    expect(first.isJoined).toBe(false);
    // Nobody is asked anything for it.
    expect(mcp.requests).toHaveLength(requestsBefore);
    const together = await Promise.all(
      [bob, bob, bob].map((user) => flows.start(allowedServer('files'), user)),
    );
    expect(new Set(together.map(({ flow }) => flow.flowId)).size).toBe(1);
    expect(together.filter(({ isJoined }) => !isJoined)).toHaveLength(1);
  });

  test('who joins from a browser goes on in it, unless another one has it', async () => {
    const { flows, allowedServer } = await createSignInServerRig();
    await flows.start(allowedServer('files'), aPrincipal());
    const joined = await flows.start(allowedServer('files'), aPrincipal(), { bindsBrowser: true });
    expect(joined.browserSecret).toMatch(/^[\w-]{43}$/);
    const late = await flows.start(allowedServer('files'), aPrincipal(), { bindsBrowser: true });
    expect(late).toMatchObject({ isJoined: true });
    expect(late.browserSecret).toBeUndefined();
  });

  test('one for another credential, or for more, takes the place of one that nobody left with', async () => {
    const { flows, allowedServer } = await createSignInServerRig();
    const server = allowedServer('files');
    const first = await flows.start(server, aPrincipal(), { label: 'work' });
    expect(first.flow.label).toBe('work');
    const second = await flows.start(server, aPrincipal());
    expect(second).toMatchObject({ isJoined: false, flow: { label: 'default' } });
    expect(await flows.readStatus(aPrincipal(), first.flow.flowId)).toMatchObject({ error: 'cancelled' });
    const wider = await flows.start(server, aPrincipal(), { widenedScopes: 'mcp:read mcp:admin' });
    expect(wider.isJoined).toBe(false);
    const less = await flows.start(server, aPrincipal(), { widenedScopes: 'mcp:admin' });
    expect(less).toMatchObject({ isJoined: true, flow: wider.flow });
    const proven = await flows.start(server, aPrincipal(), { claims: '{"a":1}' });
    expect(proven.isJoined).toBe(false);
    expect((await flows.start(server, aPrincipal(), { claims: '{"a":1}' })).flow).toEqual(proven.flow);
  });

  test('one that somebody left with is told of, and no browser takes it', async () => {
    const { flows, allowedServer, startSignIn, finishSignIn } = await createSignInServerRig();
    const left = await startSignIn('files', { options: { label: 'work' } });
    const other = await flows.start(allowedServer('files'), aPrincipal(), { bindsBrowser: true });
    expect(other).toEqual({ flow: { ...left.started.flow, label: 'work' }, isJoined: true });
    expect(await finishSignIn(await followRedirect(left.opened.url))).toMatchObject({ ok: true });
    expect((await flows.start(allowedServer('files'), aPrincipal())).isJoined).toBe(false);
  });

  test('one whose process died in the middle is in nobody’s way after a minute', async () => {
    const rig = await createSignInServerRig();
    const { opened } = await rig.startSignIn('files');
    const held = rig.as.hold('token');
    const finishing = rig.finishSignIn(await followRedirect(opened.url));
    await held.arrived();
    const other = rig.replica();
    expect(await other.flows.start(rig.allowedServer('files'), aPrincipal())).toMatchObject({
      isJoined: true,
    });
    rig.clock.advance(61_000);
    expect(await other.flows.start(rig.allowedServer('files'), aPrincipal())).toMatchObject({
      isJoined: false,
    });
    held.release();
    // It was only slow: what it brings still counts.
    expect(await finishing).toMatchObject({ ok: true });
  });

  test('the sixth at once is put off until one of them ends', async () => {
    const { mcp, as } = await createSignInServerRig();
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const rig = createSignInRig({
      servers: Object.fromEntries(
        names.map((name) => [name, { type: 'streamable-http', url: mcp.url, requiresOAuth: true }]),
      ),
      ports: [as.port, mcp.port],
    });
    for (const name of names.slice(0, 5)) await rig.flows.start(rig.allowedServer(name), aPrincipal());
    const refused = await rig.flows
      .start(rig.allowedServer('six'), aPrincipal())
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'MCP_FLOW_LIMIT' });
    const { retryAfterMs = 0 } = refused as { retryAfterMs?: number };
    expect(retryAfterMs).toBeGreaterThan(9 * 60_000);
    expect(retryAfterMs).toBeLessThanOrEqual(10 * 60_000);
    const requestsBefore = mcp.requests.length;
    await expect(rig.flows.start(rig.allowedServer('six'), aPrincipal())).rejects.toMatchObject({
      code: 'MCP_FLOW_LIMIT',
    });
    // Who has no place makes us ask nobody.
    expect(mcp.requests).toHaveLength(requestsBefore);
    await rig.flows.start(rig.allowedServer('six'), bob);
    await rig.flows.cancel(rig.allowedServer('one'), aPrincipal());
    await rig.flows.start(rig.allowedServer('six'), aPrincipal());
  });

  test('cancelling works twice, and what comes back afterwards is not redeemed', async () => {
    const { as, flows, startSignIn, finishSignIn, allowedServer } = await createSignInServerRig();
    const { opened, flowId } = await startSignIn('files');
    const back = await followRedirect(opened.url);
    expect(await flows.cancel(allowedServer('files'), bob)).toBe(false);
    expect(await flows.cancel(allowedServer('files'), aPrincipal())).toBe(true);
    expect(await flows.cancel(allowedServer('files'), aPrincipal())).toBe(false);
    expect(await finishSignIn(back)).toMatchObject({ ok: false, error: 'flow_used' });
    expect(as.counters.tokenHits).toBe(0);
    expect(await flows.readStatus(aPrincipal(), flowId)).toMatchObject({
      status: 'FAILED',
      error: 'cancelled',
    });
  });

  test('programs begin none, and at what everybody shares there is none', async () => {
    const { flows, allowedServer, mcp } = await createSignInServerRig({
      otherServers: ({ url }) => ({ shared: { type: 'streamable-http', url, auth: 'none' } }),
    });
    const service = { ...aPrincipal(), kind: 'service' } as const;
    await expect(flows.start(allowedServer('files'), service)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(flows.start(allowedServer('shared'), aPrincipal())).rejects.toMatchObject({
      problem: 'not_offered',
    });
    expect(mcp.requests).toEqual([]);
  });

  test('widening asks for all that was asked for, and twice an hour at most', async () => {
    const rig = await createSignInServerRig();
    await rig.signIn('files');
    const { flows, allowedServer } = rig;
    // What the server publishes now says nothing of what was granted before.
    rig.mcp.guard({ metadata: { scopes_supported: ['mcp:read'] } });
    const widen = () => rig.startSignIn('files', { options: { widenedScopes: 'mcp:admin mcp:read' } });
    const { opened } = await widen();
    expect(new URL(opened.url).searchParams.get('scope')).toBe('mcp:admin mcp:read mcp:write offline_access');
    await flows.cancel(allowedServer('files'), aPrincipal());
    await widen();
    await flows.cancel(allowedServer('files'), aPrincipal());
    await expect(widen()).rejects.toMatchObject({ code: 'MCP_FLOW_LIMIT' });
    // Another wish is another matter, and the old grant works all the while.
    await rig.startSignIn('files', { options: { widenedScopes: 'mcp:other' } });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('a definition that changes meanwhile ends it, and nothing is redeemed', async () => {
    const changed = await createSignInServerRig();
    const { opened, flowId } = await changed.startSignIn('files');
    const back = await followRedirect(opened.url);
    const other = { type: 'streamable-http', url: changed.mcp.url, requiresOAuth: true, timeout: 5_000 };
    const replica = createSignInRig({
      ...{ store: changed.store, clock: changed.clock },
      servers: { files: other },
      ports: [changed.as.port, changed.mcp.port],
    });
    replica.cookies.set(flowId, changed.cookies.get(flowId) ?? '');
    expect(await replica.finishSignIn(back)).toMatchObject({ ok: false, error: 'config_changed', flowId });
    expect(changed.as.counters.tokenHits).toBe(0);
    const again = await changed.flows.start(changed.allowedServer('files'), aPrincipal());
    const open = {
      flowId: again.flow.flowId,
      serverName: 'files',
      principal: aPrincipal(),
      browserSecret: null,
    };
    await expect(replica.flows.open(open)).rejects.toMatchObject({ code: 'MCP_FLOW_INVALID' });
    expect(await changed.flows.readStatus(aPrincipal(), open.flowId)).toMatchObject({
      error: 'config_changed',
    });
  });

  test('it leads back to a path of ours and nowhere else', async () => {
    const rig = await createSignInServerRig();
    for (const [requestedPath, returnPath] of [
      ['/chat/1?x=2', '/chat/1?x=2'],
      ['//evil.example', '/'],
      ['https://evil.example', '/'],
      ['/\\evil.example', '/'],
    ] as const) {
      const done = await rig.signIn('files', { options: { returnTo: requestedPath } });
      expect(done).toMatchObject({ ok: true, returnTo: returnPath });
    }
  });

  test('no state, verifier or cookie stands in the store in clear', async () => {
    const { startSignIn, cookies, store } = await createSignInServerRig();
    const { opened, flowId } = await startSignIn('files');
    const row = JSON.stringify(await store.oauthFlows.find(flowId));
    expect(row).not.toContain(new URL(opened.url).searchParams.get('state'));
    expect(row).not.toContain(cookies.get(flowId));
    expect(row).not.toContain('verifier');
  });

  test('the operator says how long a sign-in may take and is told of', async () => {
    const minute = 60 * 1000;
    const rig = await createSignInServerRig({ timeouts: { pendingMs: 2 * minute, retentionMs: 5 * minute } });
    const startedAt = rig.clock.now();
    const { opened, flowId } = await rig.startSignIn('files');
    expect(opened.expiresAt - startedAt).toBeLessThan(2 * minute + 5_000);
    rig.clock.advance(2 * minute + 1);
    expect(await rig.finishSignIn(await followRedirect(opened.url))).toMatchObject({ ok: false });
    expect(await rig.flows.readStatus(aPrincipal(), flowId)).toMatchObject({
      status: 'FAILED',
      error: 'expired',
    });
    rig.clock.advance(4 * minute);
    await rig.store.oauthFlows.removeExpired(rig.clock.now());
    await expect(rig.flows.readStatus(aPrincipal(), flowId)).rejects.toThrow();
    // Not forgotten while it goes on.
    const short = await createSignInServerRig({ timeouts: { pendingMs: 2 * minute, retentionMs: minute } });
    const left = await short.startSignIn('files');
    short.clock.advance(2 * minute - 1_000);
    await short.store.oauthFlows.removeExpired(short.clock.now());
    expect(await short.finishSignIn(await followRedirect(left.opened.url))).toMatchObject({ ok: true });
  });

  test('and for how long a server is waited for', async () => {
    const rig = await createSignInServerRig({
      detectionMs: 100,
      guard: { access: 'anonymous', documents: 'none' },
    });
    rig.mcp.change({ respond: () => new Promise(() => undefined) });
    const startedAt = performance.now();
    await expect(rig.startSignIn('files')).rejects.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});
