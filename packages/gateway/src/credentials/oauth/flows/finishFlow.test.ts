import { aPrincipal, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, signInScene, type SceneOptions, visit } from '../../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const bob = aPrincipal({ userId: 'u-bob', authentication: { via: 'session', session: 'session-of-bob' } });

/** To the authorization server and back. */
async function returned(options: SceneOptions = {}) {
  const scene = await signInScene(options);
  const left = await scene.leave('files');
  return { ...scene, ...left, back: await visit(left.opened.url) };
}

describe('the end of a sign-in at a server', () => {
  test('whoever says that it names itself must, and a name must be the right one', async () => {
    for (const [advertisesIss, iss, isGood] of [
      [true, 'sent', true],
      [true, 'none', false],
      [false, 'none', true],
      [false, 'sent', true],
      [true, 'https://evil.example', false],
      [false, 'https://evil.example', false],
    ] as const) {
      const { as, finish, back } = await returned({ authorization: { advertisesIss, iss } });
      const done = await finish(back);
      expect(done).toMatchObject(isGood ? { ok: true } : { ok: false, error: 'issuer_mismatch' });
      expect(as.counters.tokenHits).toBe(isGood ? 1 : 0);
    }
  });

  test('no slash or case is healed', async () => {
    for (const heal of [(iss: string) => `${iss}/`, (iss: string) => iss.toUpperCase()]) {
      const { as, finish, back } = await returned();
      back.searchParams.set('iss', heal(as.issuer));
      expect(await finish(back)).toMatchObject({ error: 'issuer_mismatch' });
    }
  });

  test('of somebody else not even an error is believed or repeated', async () => {
    const { finish, back, flows, flowId, events } = await returned({ authorization: { consent: 'deny' } });
    back.searchParams.set('iss', 'https://evil.example');
    back.searchParams.set('error_description', 'Call 555-0199');
    const done = await finish(back);
    expect(done).toMatchObject({ ok: false, error: 'issuer_mismatch' });
    const shown = JSON.stringify([done, await flows.readStatus(aPrincipal(), flowId), events]);
    for (const text of ['access_denied', '555-0199', 'evil.example']) expect(shown).not.toContain(text);
  });

  test('texts that are no code of ours are not passed on', async () => {
    for (const [said, expectedError] of [
      ['access_denied', 'access_denied'],
      ['temporarily_unavailable', 'temporarily_unavailable'],
      ['<script>', 'provider_error'],
      ['flow_used', 'provider_error'],
    ] as const) {
      const { finish, back } = await returned({ authorization: { consent: 'deny' } });
      back.searchParams.set('error', said);
      expect(await finish(back)).toMatchObject({ error: expectedError });
    }
  });

  test('it is taken once', async () => {
    const { as, finish, back } = await returned();
    const both = await Promise.all([finish(back), finish(back), finish(back)]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await finish(back)).toMatchObject({ ok: false, error: 'flow_used' });
    expect(as.counters.tokenHits).toBe(1);
  });

  test('when its time is over it is unknown, and so is what never was', async () => {
    const { as, finish, back, clock, flows, flowId } = await returned();
    const unknown = new URL(back);
    unknown.searchParams.set('state', 'made up');
    expect(await finish(unknown)).toEqual({ ok: false, error: 'flow_unknown' });
    clock.pass(10 * 60_000 + 1);
    expect(await finish(back)).toEqual({ ok: false, error: 'flow_unknown' });
    expect(await flows.readStatus(aPrincipal(), flowId)).toMatchObject({
      status: 'FAILED',
      error: 'expired',
    });
    expect(as.counters.tokenHits).toBe(0);
  });

  test('another user or browser is refused, and its owner can go on', async () => {
    const { as, finish, back, cookies, flowId } = await returned();
    const secret = cookies.get(flowId) ?? '';
    expect(await finish(back, bob)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(await finish(back, null)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(await finish(back, aPrincipal({ tenant: 'other' }))).toEqual({
      ok: false,
      error: 'flow_forbidden',
    });
    for (const wrong of ['', `${secret}x`]) {
      cookies.set(flowId, wrong);
      expect(await finish(back)).toEqual({ ok: false, error: 'flow_forbidden' });
    }
    cookies.delete(flowId);
    expect(await finish(back)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(as.counters.tokenHits).toBe(0);
    cookies.set(flowId, secret);
    expect(await finish(back)).toMatchObject({ ok: true, flowId });
  });

  test('of two departures the last one counts', async () => {
    const { finish, back, flows, cookies, flowId } = await returned();
    const open = {
      flowId,
      serverName: 'files',
      principal: aPrincipal(),
      browserSecret: cookies.get(flowId) ?? null,
    };
    const again = await flows.open(open);
    if (again.kind !== 'leave') throw new Error('asked');
    expect(await finish(back)).toEqual({ ok: false, error: 'flow_unknown' });
    cookies.set(flowId, again.browserSecret);
    expect(await finish(await visit(again.url))).toMatchObject({ ok: true });
  });

  test('a parameter that comes twice is not believed', async () => {
    for (const name of ['code', 'state', 'iss', 'error', 'error_description']) {
      const { as, finish, back } = await returned();
      back.searchParams.append(name, back.searchParams.get(name) ?? 'one');
      if (name.startsWith('error')) back.searchParams.append(name, 'two');
      expect(await finish(back)).toEqual({ ok: false, error: 'callback_failed' });
      expect(as.counters.tokenHits).toBe(0);
    }
  });

  test('it must come back to the server that it was begun for', async () => {
    const { as, finish, back } = await returned({
      others: ({ url }) => ({ other: { type: 'streamable-http', url, requiresOAuth: true } }),
    });
    const otherServerUrl = new URL(back);
    otherServerUrl.pathname = '/api/mcp/other/oauth/callback';
    expect(await finish(otherServerUrl)).toEqual({ ok: false, error: 'invalid_state' });
    expect(as.counters.tokenHits).toBe(0);
    expect(await finish(back)).toMatchObject({ ok: true });
  });

  test('without a state or a code there is nothing to end it with', async () => {
    const { finish, back } = await returned();
    const stateless = new URL(back);
    stateless.searchParams.delete('state');
    expect(await finish(stateless)).toEqual({ ok: false, error: 'missing_state' });
    back.searchParams.delete('code');
    expect(await finish(back)).toMatchObject({ ok: false, error: 'missing_code' });
  });

  test('it may end at another replica than it began at', async () => {
    const scene = await returned();
    const other = scene.replica();
    other.cookies.set(scene.flowId, scene.cookies.get(scene.flowId) ?? '');
    expect(await other.finish(scene.back)).toMatchObject({ ok: true });
    expect(await scene.flows.readStatus(aPrincipal(), scene.flowId)).toMatchObject({ status: 'COMPLETED' });
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('who declines is told so within a second, wherever they wait', async () => {
    const { finish, back, flows, flowId } = await returned({ authorization: { consent: 'deny' } });
    const waiting = flows.readStatus(aPrincipal(), flowId, { waitMs: 20_000 });
    const startedAt = Date.now();
    expect(await finish(back)).toMatchObject({ ok: false, error: 'access_denied', flowId });
    expect(await waiting).toMatchObject({ status: 'FAILED', failed: true, error: 'access_denied' });
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  test('the status alone decides, and it is for its owner', async () => {
    const { flows, flowId, finish, back } = await returned();
    expect(await flows.readStatus(aPrincipal(), flowId)).toMatchObject({ status: 'PENDING' });
    await expect(flows.readStatus(bob, flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    await expect(flows.readTokens(bob, flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    await expect(flows.readTokens(aPrincipal(), flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_INVALID' });
    await expect(flows.readStatus(aPrincipal(), 'unknown')).rejects.toMatchObject({
      code: 'MCP_FLOW_NOT_FOUND',
    });
    await finish(back);
    const { tokens } = await flows.readTokens(aPrincipal(), flowId);
    expect(tokens).toMatchObject({ token_type: 'Bearer', has_refresh_token: true });
    expect(Object.keys(tokens).sort()).toEqual([
      'expires_at',
      'has_refresh_token',
      'obtained_at',
      'scope',
      'token_type',
    ]);
  });

  test('keys that cannot be read after the exchange cost nobody their grant', async () => {
    for (const body of ['down', 'forged'] as const) {
      const scene = await returned({ definition: () => ({ oauth: { scope: 'openid mcp:read' } }) });
      if (body === 'down') scene.as.respondNext('jwks', { status: 503 });
      else scene.as.respondNext('jwks', { status: 200, body: { keys: [] } });
      expect(await scene.finish(scene.back)).toMatchObject({ ok: true });
      expect(scene.logged).toContainEqual({ event: 'oauth_id_token_unverified', reason: undefined });
      expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
    }
    const good = await returned({ definition: () => ({ oauth: { scope: 'openid mcp:read' } }) });
    await good.finish(good.back);
    expect(good.as.received('jwks')).toHaveLength(1);
    expect(good.logged.map(({ event }) => event)).not.toContain('oauth_id_token_unverified');
  });

  test('the grant is stored before anything is done with it', async () => {
    let stored = false;
    const scene = await returned({
      probe: async () => {
        stored = (await scene.store.credentials.find(scene.keyOf('files'))) !== null;
        throw new Error('no connection');
      },
    });
    expect(await scene.finish(scene.back)).toMatchObject({ ok: true });
    expect(stored).toBe(true);
    expect(await scene.flows.readStatus(aPrincipal(), scene.flowId)).toMatchObject({ probe: 'unreachable' });
  });

  test('a server that answers without a token as well is told of as such', async () => {
    const scene = await returned({ probe: () => Promise.resolve('unverified') });
    await scene.finish(scene.back);
    expect(await scene.flows.readStatus(aPrincipal(), scene.flowId)).toMatchObject({
      status: 'COMPLETED',
      probe: 'unverified',
    });
  });

  test('one that refuses the new token ends it as failed, and the grant stays', async () => {
    const scene = await returned({ probe: () => Promise.resolve('refused') });
    expect(await scene.finish(scene.back)).toMatchObject({ ok: false, error: 'probe_refused' });
    expect(await scene.flows.readStatus(aPrincipal(), scene.flowId)).toMatchObject({
      status: 'FAILED',
      error: 'probe_refused',
    });
    expect(await scene.vault.token(scene.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('it is written down who connected what, and whether it worked', async () => {
    const { finish, back, events } = await returned();
    await finish(back);
    expect(events).toEqual([
      expect.objectContaining({
        kind: 'credential',
        action: 'oauth.connect',
        outcome: 'ok',
        server: 'files',
        actor: { kind: 'user', id: 'u-ada', by: 'session' },
      }),
    ]);
    const denied = await returned({ authorization: { consent: 'deny' } });
    await denied.finish(denied.back);
    expect(denied.events).toEqual([expect.objectContaining({ outcome: 'failed', code: 'access_denied' })]);
  });

  test('what is over holds no secret any more, and nothing told of it is one', async () => {
    const scene = await returned();
    await scene.finish(scene.back);
    const row = await eventually('the end', async () => {
      const flow = await scene.store.oauthFlows.find(scene.flowId);
      return flow?.status === 'approved' ? flow : undefined;
    });
    const visibleText = JSON.stringify([
      row,
      scene.logged,
      scene.events,
      await scene.flows.readTokens(aPrincipal(), scene.flowId),
    ]);
    for (const secret of scene.as.secrets) expect(visibleText).not.toContain(secret);
  });
});
