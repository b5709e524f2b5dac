import { aPrincipal, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type SignInServerRigOptions,
  closeSignInRigs,
  createSignInServerRig,
  followRedirect,
} from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const bob = aPrincipal({ userId: 'u-bob', authentication: { via: 'session', session: 'session-of-bob' } });

/** To the authorization server and back. */
async function returned(options: SignInServerRigOptions = {}) {
  const rig = await createSignInServerRig(options);
  const left = await rig.startSignIn('files');
  return { ...rig, ...left, back: await followRedirect(left.opened.url) };
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
      const { as, finishSignIn, back } = await returned({ authorization: { advertisesIss, iss } });
      const done = await finishSignIn(back);
      expect(done).toMatchObject(isGood ? { ok: true } : { ok: false, error: 'issuer_mismatch' });
      expect(as.counters.tokenHits).toBe(isGood ? 1 : 0);
    }
  });

  test('no slash or case is healed', async () => {
    for (const heal of [(iss: string) => `${iss}/`, (iss: string) => iss.toUpperCase()]) {
      const { as, finishSignIn, back } = await returned();
      back.searchParams.set('iss', heal(as.issuer));
      expect(await finishSignIn(back)).toMatchObject({ error: 'issuer_mismatch' });
    }
  });

  test('of somebody else not even an error is believed or repeated', async () => {
    const { finishSignIn, back, flows, flowId, events } = await returned({
      authorization: { consent: 'deny' },
    });
    back.searchParams.set('iss', 'https://evil.example');
    back.searchParams.set('error_description', 'Call 555-0199');
    const done = await finishSignIn(back);
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
      const { finishSignIn, back } = await returned({ authorization: { consent: 'deny' } });
      back.searchParams.set('error', said);
      expect(await finishSignIn(back)).toMatchObject({ error: expectedError });
    }
  });

  test('it is taken once', async () => {
    const { as, finishSignIn, back } = await returned();
    const both = await Promise.all([finishSignIn(back), finishSignIn(back), finishSignIn(back)]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await finishSignIn(back)).toMatchObject({ ok: false, error: 'flow_used' });
    expect(as.counters.tokenHits).toBe(1);
  });

  test('when its time is over it is unknown, and so is what never was', async () => {
    const { as, finishSignIn, back, clock, flows, flowId } = await returned();
    const unknown = new URL(back);
    unknown.searchParams.set('state', 'made up');
    expect(await finishSignIn(unknown)).toEqual({ ok: false, error: 'flow_unknown' });
    clock.advance(10 * 60_000 + 1);
    expect(await finishSignIn(back)).toEqual({ ok: false, error: 'flow_unknown' });
    expect(await flows.readStatus(aPrincipal(), flowId)).toMatchObject({
      status: 'FAILED',
      error: 'expired',
    });
    expect(as.counters.tokenHits).toBe(0);
  });

  test('another user or browser is refused, and its owner can go on', async () => {
    const { as, finishSignIn, back, cookies, flowId } = await returned();
    const secret = cookies.get(flowId) ?? '';
    expect(await finishSignIn(back, bob)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(await finishSignIn(back, null)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(await finishSignIn(back, aPrincipal({ tenant: 'other' }))).toEqual({
      ok: false,
      error: 'flow_forbidden',
    });
    for (const wrong of ['', `${secret}x`]) {
      cookies.set(flowId, wrong);
      expect(await finishSignIn(back)).toEqual({ ok: false, error: 'flow_forbidden' });
    }
    cookies.delete(flowId);
    expect(await finishSignIn(back)).toEqual({ ok: false, error: 'flow_forbidden' });
    expect(as.counters.tokenHits).toBe(0);
    cookies.set(flowId, secret);
    expect(await finishSignIn(back)).toMatchObject({ ok: true, flowId });
  });

  test('of two departures the last one counts', async () => {
    const { finishSignIn, back, flows, cookies, flowId } = await returned();
    const open = {
      flowId,
      serverName: 'files',
      principal: aPrincipal(),
      browserSecret: cookies.get(flowId) ?? null,
    };
    const again = await flows.open(open);
    if (again.kind !== 'leave') throw new Error('asked');
    expect(await finishSignIn(back)).toEqual({ ok: false, error: 'flow_unknown' });
    cookies.set(flowId, again.browserSecret);
    expect(await finishSignIn(await followRedirect(again.url))).toMatchObject({ ok: true });
  });

  test('a parameter that comes twice is not believed', async () => {
    for (const name of ['code', 'state', 'iss', 'error', 'error_description']) {
      const { as, finishSignIn, back } = await returned();
      back.searchParams.append(name, back.searchParams.get(name) ?? 'one');
      if (name.startsWith('error')) back.searchParams.append(name, 'two');
      expect(await finishSignIn(back)).toEqual({ ok: false, error: 'callback_failed' });
      expect(as.counters.tokenHits).toBe(0);
    }
  });

  test('it must come back to the server that it was begun for', async () => {
    const { as, finishSignIn, back } = await returned({
      otherServers: ({ url }) => ({ other: { type: 'streamable-http', url, requiresOAuth: true } }),
    });
    const otherServerUrl = new URL(back);
    otherServerUrl.pathname = '/api/mcp/other/oauth/callback';
    expect(await finishSignIn(otherServerUrl)).toEqual({ ok: false, error: 'invalid_state' });
    expect(as.counters.tokenHits).toBe(0);
    expect(await finishSignIn(back)).toMatchObject({ ok: true });
  });

  test('without a state or a code there is nothing to end it with', async () => {
    const { finishSignIn, back } = await returned();
    const stateless = new URL(back);
    stateless.searchParams.delete('state');
    expect(await finishSignIn(stateless)).toEqual({ ok: false, error: 'missing_state' });
    back.searchParams.delete('code');
    expect(await finishSignIn(back)).toMatchObject({ ok: false, error: 'missing_code' });
  });

  test('it may end at another replica than it began at', async () => {
    const rig = await returned();
    const other = rig.replica();
    other.cookies.set(rig.flowId, rig.cookies.get(rig.flowId) ?? '');
    expect(await other.finishSignIn(rig.back)).toMatchObject({ ok: true });
    expect(await rig.flows.readStatus(aPrincipal(), rig.flowId)).toMatchObject({ status: 'COMPLETED' });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('who declines is told so within a second, wherever they wait', async () => {
    const { finishSignIn, back, flows, flowId } = await returned({ authorization: { consent: 'deny' } });
    const waiting = flows.readStatus(aPrincipal(), flowId, { waitMs: 20_000 });
    const startedAt = Date.now();
    expect(await finishSignIn(back)).toMatchObject({ ok: false, error: 'access_denied', flowId });
    expect(await waiting).toMatchObject({ status: 'FAILED', failed: true, error: 'access_denied' });
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  test('the status alone decides, and it is for its owner', async () => {
    const { flows, flowId, finishSignIn, back } = await returned();
    expect(await flows.readStatus(aPrincipal(), flowId)).toMatchObject({ status: 'PENDING' });
    await expect(flows.readStatus(bob, flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    await expect(flows.readTokens(bob, flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_FORBIDDEN' });
    await expect(flows.readTokens(aPrincipal(), flowId)).rejects.toMatchObject({ code: 'MCP_FLOW_INVALID' });
    await expect(flows.readStatus(aPrincipal(), 'unknown')).rejects.toMatchObject({
      code: 'MCP_FLOW_NOT_FOUND',
    });
    await finishSignIn(back);
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
      const rig = await returned({ definition: () => ({ oauth: { scope: 'openid mcp:read' } }) });
      if (body === 'down') rig.as.respondNext('jwks', { status: 503 });
      else rig.as.respondNext('jwks', { status: 200, body: { keys: [] } });
      expect(await rig.finishSignIn(rig.back)).toMatchObject({ ok: true });
      expect(rig.logged).toContainEqual({ event: 'oauth_id_token_unverified', reason: undefined });
      expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
    }
    const good = await returned({ definition: () => ({ oauth: { scope: 'openid mcp:read' } }) });
    await good.finishSignIn(good.back);
    expect(good.as.received('jwks')).toHaveLength(1);
    expect(good.logged.map(({ event }) => event)).not.toContain('oauth_id_token_unverified');
  });

  test('the grant is stored before anything is done with it', async () => {
    let stored = false;
    const rig = await returned({
      probe: async () => {
        stored = (await rig.store.credentials.find(rig.keyOf('files'))) !== null;
        throw new Error('no connection');
      },
    });
    expect(await rig.finishSignIn(rig.back)).toMatchObject({ ok: true });
    expect(stored).toBe(true);
    expect(await rig.flows.readStatus(aPrincipal(), rig.flowId)).toMatchObject({ probe: 'unreachable' });
  });

  test('a server that answers without a token as well is told of as such', async () => {
    const rig = await returned({ probe: () => Promise.resolve('unverified') });
    await rig.finishSignIn(rig.back);
    expect(await rig.flows.readStatus(aPrincipal(), rig.flowId)).toMatchObject({
      status: 'COMPLETED',
      probe: 'unverified',
    });
  });

  test('one that refuses the new token ends it as failed, and the grant stays', async () => {
    const rig = await returned({ probe: () => Promise.resolve('refused') });
    expect(await rig.finishSignIn(rig.back)).toMatchObject({ ok: false, error: 'probe_refused' });
    expect(await rig.flows.readStatus(aPrincipal(), rig.flowId)).toMatchObject({
      status: 'FAILED',
      error: 'probe_refused',
    });
    expect(await rig.vault.token(rig.keyOf('files'))).toMatchObject({ kind: 'token' });
  });

  test('it is written down who connected what, and whether it worked', async () => {
    const { finishSignIn, back, events } = await returned();
    await finishSignIn(back);
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
    await denied.finishSignIn(denied.back);
    expect(denied.events).toEqual([expect.objectContaining({ outcome: 'failed', code: 'access_denied' })]);
  });

  test('what is over holds no secret any more, and nothing told of it is one', async () => {
    const rig = await returned();
    await rig.finishSignIn(rig.back);
    const row = await eventually('the end', async () => {
      const flow = await rig.store.oauthFlows.find(rig.flowId);
      return flow?.status === 'approved' ? flow : undefined;
    });
    const visibleText = JSON.stringify([
      row,
      rig.logged,
      rig.events,
      await rig.flows.readTokens(aPrincipal(), rig.flowId),
    ]);
    for (const secret of rig.as.secrets) expect(visibleText).not.toContain(secret);
  });
});
