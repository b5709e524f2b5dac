import { systemClock } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { readAuthMeta, lastServedToken, servedRequests, createSignedInRig } from './grantCalls.ts';
import { createGrantRigs, type GrantRig, type GrantRigOptions } from './grantRig.ts';
import type { TestUser } from './users.ts';
import { readRecords } from './storeDump.ts';

const createRig = createGrantRigs();
const connected = (options?: GrantRigOptions) => createSignedInRig(createRig, options);

/** A server that has more than tools. */
const everything = {
  methods: {
    'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'one' }] }),
    'resources/read': () => ({ contents: [{ uri: 'note://1', text: 'one' }] }),
    'prompts/list': () => ({ prompts: [{ name: 'ask' }] }),
    'prompts/get': () => ({ messages: [] }),
  },
  capabilities: { tools: {}, resources: {}, prompts: {} },
};

describe('a refused token', () => {
  test('is renewed once, and the call runs once, with the new one', async () => {
    const rig = await connected();
    const { ada, as, mcp } = rig;
    const bearer = lastServedToken(rig);
    as.endAccessToken(bearer);
    const { refreshHits } = as.counters;
    const from = mcp.guardedRequests.length;
    expect((await ada.call('notes', 'echo', { a: 2 })).body).toMatchObject({ isError: false });
    expect(as.counters.refreshHits - refreshHits).toBe(1);
    expect(servedRequests(rig)).toHaveLength(2);
    expect(lastServedToken(rig)).not.toBe(bearer);
    const shown = mcp.guardedRequests
      .slice(from)
      .map(({ bearer: token, status }) => [token === bearer, status]);
    // Refused with the old one, once, and never shown it again.
    expect(shown.filter(([isOld]) => isOld)).toEqual([[true, 401]]);
  });

  test('that is brand-new ends there, and costs nobody their grant', async () => {
    const rig = await connected();
    const { ada, as, mcp, listCredentials } = rig;
    mcp.guard({ refuse: 'unauthorized' });
    const { refreshHits } = as.counters;
    const from = mcp.guardedRequests.length;
    const { status, body } = await ada.call('notes', 'echo');
    expect([status, body.isError]).toEqual([200, true]);
    expect(readAuthMeta(body)).toMatchObject({
      code: 'needs_reauth',
      reason: 'audience_or_policy',
      retryable: false,
    });
    expect(as.counters.refreshHits - refreshHits).toBe(1);
    const calls = mcp.guardedRequests
      .slice(from)
      .filter(({ request }) => request.message?.method === 'tools/call');
    expect(calls.length).toBeLessThanOrEqual(2);
    expect(await listCredentials(ada)).toMatchObject([{ status: 'active' }]);
    // And at once when it is asked again.
    const again = await ada.call('notes', 'echo');
    expect(readAuthMeta(again.body)).toMatchObject({ reason: 'audience_or_policy' });
    expect(as.counters.refreshHits - refreshHits).toBe(1);
    mcp.guard({ refuse: 'nothing' });
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });

  test('is never told as a refusal of the caller’s own token', async () => {
    const { ada, mcp } = await connected({ mcp: everything });
    mcp.guard({ refuse: 'unauthorized' });
    for (const ask of [
      () => ada.post('/api/mcp/servers/notes/tools/echo/call', {}),
      () => ada.get('/api/mcp/servers/notes/resources'),
      () => ada.post('/api/mcp/servers/notes/resources/read', { uri: 'note://1' }),
      () => ada.post('/api/mcp/servers/notes/prompts/ask/get', {}),
      () => ada.get('/api/mcp/tools'),
      () => ada.post('/api/mcp/notes/reinitialize', {}),
    ]) {
      const response = await ask();
      expect(response.status).not.toBe(401);
      expect(response.headers.get('www-authenticate')).toBeNull();
      const text = await response.text();
      expect(text).not.toContain('resource_metadata');
    }
  });

  test('is none where nobody ever signed in: no token is asked for', async () => {
    const { users, as, mcp } = await createRig();
    const [ada] = users as [TestUser];
    const { body } = await ada.call('notes', 'echo');
    expect(readAuthMeta(body)).toMatchObject({ reason: 'absent', connectUrl: '/servers/notes' });
    expect((await ada.call('nowhere', 'echo')).body).toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
    expect(as.counters.tokenHits).toBe(0);
    expect(mcp.guardedRequests.every(({ bearer }) => bearer === null)).toBe(true);
  });

  test('is renewed for lists, resources and prompts as for tools', async () => {
    const rig = await connected({ mcp: everything });
    const { ada, as, mcp, clock } = rig;
    const asks: [string, () => Promise<Response>][] = [
      ['resources/list', () => ada.get('/api/mcp/servers/notes/resources')],
      ['resources/read', () => ada.post('/api/mcp/servers/notes/resources/read', { uri: 'note://1' })],
      ['prompts/list', () => ada.get('/api/mcp/servers/notes/prompts')],
      ['prompts/get', () => ada.post('/api/mcp/servers/notes/prompts/ask/get', {})],
      ['tools/list', () => ada.post('/api/mcp/notes/reinitialize', {})],
    ];
    for (const [method, ask] of asks) {
      const current = mcp.guardedRequests.findLast(({ status }) => status === 'served')?.bearer ?? '';
      as.endAccessToken(current);
      // What is refused right after it was renewed would be the server's own doing.
      for (const ms of [20_000, 20_000]) clock.advance(ms);
      const { refreshHits } = as.counters;
      const response = await ask();
      expect([method, response.status]).toEqual([method, 200]);
      expect([method, as.counters.refreshHits - refreshHits]).toEqual([method, 1]);
      expect(servedRequests(rig, method).at(-1)?.bearer).not.toBe(current);
    }
  });
});

describe('a refusal that is not about the token', () => {
  test('a plain 403 is told, and changes nothing', async () => {
    const { ada, as, mcp, listCredentials } = await connected();
    mcp.guard({ refuse: 'forbidden' });
    const { refreshHits } = as.counters;
    expect(await ada.call('notes', 'echo')).toMatchObject({
      status: 502,
      body: { code: 'MCP_CREDENTIAL_REJECTED' },
    });
    expect(as.counters.refreshHits - refreshHits).toBe(0);
    expect(await listCredentials(ada)).toMatchObject([{ status: 'active' }]);
  });

  test('the words of a 401 inside a result are a result', async () => {
    const said = 'HTTP 401 Unauthorized: invalid_token';
    const tools = [
      { name: 'echo', handler: () => ({ isError: true, content: [{ type: 'text', text: said }] }) },
    ];
    const { ada, as } = await connected({ mcp: { tools } });
    const { refreshHits } = as.counters;
    const { body } = await ada.call('notes', 'echo');
    expect(body).toMatchObject({ isError: true, content: [{ text: said }] });
    expect(readAuthMeta(body)).toBeUndefined();
    expect(as.counters.refreshHits - refreshHits).toBe(0);
  });

  test('one user’s refusals stop nobody else', async () => {
    const rig = await createRig({ names: ['Ada', 'Bob'] });
    const { as, mcp, clock, connectUser } = rig;
    const [ada, bob] = rig.users as [TestUser, TestUser];
    for (const who of [ada, bob]) await connectUser(who);
    await ada.call('notes', 'echo');
    const { familyId } = as.inspect(lastServedToken(rig))!;
    // Every token of hers, however new.
    mcp.change({
      respond: ({ headers: { authorization = '' } }) =>
        as.inspect(authorization.replace('Bearer ', ''))?.familyId === familyId
          ? { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }
          : undefined,
    });
    const { rotations } = as.counters;
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(31_000);
      expect(readAuthMeta((await ada.call('notes', 'echo')).body)).toMatchObject({
        reason: 'audience_or_policy',
      });
    }
    expect(as.counters.rotations - rotations).toBe(3);
    // Now she is not even let through to the server, and he is.
    const from = mcp.guardedRequests.length;
    expect(await ada.call('notes', 'echo')).toMatchObject({
      status: 503,
      body: { code: 'MCP_BREAKER_OPEN' },
    });
    // A session of hers that is over may still be ended meanwhile.
    expect(mcp.guardedRequests.slice(from).filter(({ request }) => request.verb !== 'DELETE')).toEqual([]);
    expect((await bob.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });

  test('any number of errors of a tool stop nobody', async () => {
    const fail = () => ({ isError: true, content: [{ type: 'text', text: 'no' }] });
    const { ada } = await connected({ mcp: { tools: [{ name: 'echo' }, { name: 'fail', handler: fail }] } });
    const failing = await Promise.all(Array.from({ length: 100 }, () => ada.call('notes', 'fail')));
    expect(failing.every(({ status, body }) => status === 200 && body.isError === true)).toBe(true);
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });
});

describe('a wider scope', () => {
  const writing = { requiredScope: 'mcp:write', requiredScopeFor: 'write' };
  test('is asked for with all that was granted; the grant stays', async () => {
    const rig = await connected({ mcp: { guard: writing }, server: { oauth: { scope: 'mcp:read' } } });
    const { ada, as, listCredentials, startSignIn } = rig;
    const { body } = await ada.call('notes', 'write');
    expect(readAuthMeta(body)).toMatchObject({ reason: 'insufficient_scope', scopes: 'mcp:read mcp:write' });
    expect(await listCredentials(ada)).toMatchObject([{ status: 'active', scopes: 'mcp:read' }]);
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    const response = await startSignIn(ada, { scopes: String(readAuthMeta(body)?.['scopes']) });
    expect(response.status).toBe(201);
    expect((await rig.connectUser(ada, response)).pathname).toBe('/oauth/success');
    const requestedScope = as.received('authorize').at(-1)?.form['scope'] ?? '';
    expect(requestedScope.split(' ')).toEqual(expect.arrayContaining(['mcp:read', 'mcp:write']));
    expect((await ada.call('notes', 'write')).body).toMatchObject({ isError: false });
  });

  test('that was asked for and not granted is not asked for again', async () => {
    const rig = await connected({ mcp: { guard: writing }, server: { oauth: { scope: 'mcp:read' } } });
    const { ada, as, mcp, listCredentials, startSignIn } = rig;
    const scopes = String(readAuthMeta((await ada.call('notes', 'write')).body)?.['scopes']);
    // The authorization server gives less than it is asked for, and says so.
    const [clientId = ''] = as.clientIds;
    const grant = as.grant({ clientId, scope: 'mcp:read', resource: mcp.url });
    const body = {
      ...{ access_token: grant.accessToken, refresh_token: grant.refreshToken, scope: grant.scope },
      ...{ token_type: 'Bearer', expires_in: grant.expiresInS },
    };
    as.respondNext('token', { status: 200, body });
    expect((await rig.connectUser(ada, await startSignIn(ada, { scopes }))).pathname).toBe('/oauth/success');
    const before = as.counters;
    for (let turn = 0; turn < 3; turn += 1) {
      const from = mcp.received('tools/call').length;
      const answer = await ada.call('notes', 'write');
      expect(answer).toMatchObject({ status: 502, body: { code: 'MCP_CREDENTIAL_REJECTED' } });
      expect(mcp.received('tools/call')).toHaveLength(from + 1);
    }
    expect(as.counters).toEqual(before);
    expect(await listCredentials(ada)).toMatchObject([{ status: 'active', scopes: 'mcp:read' }]);
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
  });

  test('is asked for twice in an hour at most', async () => {
    const rig = await connected({ mcp: { guard: writing }, server: { oauth: { scope: 'mcp:read' } } });
    const { ada, startSignIn, clock } = rig;
    const widening = { scopes: 'mcp:read mcp:write' };
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await startSignIn(ada, widening)).status).toBe(201);
      expect((await ada.post('/api/mcp/oauth/cancel/notes', {})).status).toBe(200);
    }
    const third = await startSignIn(ada, widening);
    expect(third.status).toBe(429);
    const seconds = Number(third.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(3_600);
    clock.advance(3_600_000);
    expect((await startSignIn(ada, widening)).status).toBe(201);
  });
});

describe('a call whose outcome is not known', () => {
  const broken = (tool: string) => ({
    respond: (request: {
      message?: { method?: string; params?: Readonly<Record<string, unknown>> } | undefined;
    }) =>
      request.message?.method === 'tools/call' && request.message.params?.['name'] === tool
        ? ('reset' as const)
        : undefined,
  });
  const tools = [{ name: 'echo' }, { name: 'write' }, { name: 'read', annotations: { readOnlyHint: true } }];
  const sent = ({ mcp }: GrantRig, tool: string) =>
    mcp.received('tools/call').filter(({ message }) => message?.params?.['name'] === tool);

  test('is not made a second time when it may have written', async () => {
    const rig = await connected({ mcp: { tools } });
    rig.mcp.change(broken('write'));
    expect(await rig.ada.call('notes', 'write')).toMatchObject({
      status: 502,
      body: { code: 'MCP_OUTCOME_UNCERTAIN' },
    });
    expect(sent(rig, 'write')).toHaveLength(1);
  });

  test('is made a second time where the operator believes the server', async () => {
    for (const [trustAnnotations, times] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const rig = await connected({ mcp: { tools }, server: { trustAnnotations } });
      rig.mcp.change(broken('read'));
      expect((await rig.ada.call('notes', 'read')).status).toBe(502);
      expect([trustAnnotations, sent(rig, 'read').length]).toEqual([trustAnnotations, times]);
    }
  });

  test('a session that the server forgot is begun anew, the call made once', async () => {
    let ran = 0;
    const writes = [{ name: 'echo' }, { name: 'write', handler: () => ({ content: [], turn: (ran += 1) }) }];
    const rig = await connected({ mcp: { tools: writes } });
    rig.mcp.forgetSessions();
    const { refreshHits } = rig.as.counters;
    expect((await rig.ada.call('notes', 'write', { a: 1 })).body).toMatchObject({ isError: false });
    expect(rig.mcp.received('initialize').length).toBeGreaterThan(1);
    expect(ran).toBe(1);
    expect(rig.as.counters.refreshHits - refreshHits).toBe(0);
  });
});

describe('in the background', () => {
  test('a grant that ended begins no sign-in, and is written down once', async () => {
    const clock = createFakeClock(systemClock.now());
    const rig = await connected({ as: { lifetimeS: 600 }, clock });
    const { as, gateway, ada } = rig;
    as.endFamily(as.inspect(lastServedToken(rig))!.familyId);
    const { authorizations } = as.counters;
    // Nobody calls: it is renewed because it was used lately.
    await eventually('it is renewed before its end', async () => {
      await clock.advance(5_000);
      return as.counters.refreshHits > 0;
    });
    const status = await ada.get('/api/mcp/connection/status/notes');
    expect(await status.json()).not.toMatchObject({ authorizationState: 'authorizing' });
    await clock.advance(600_000);
    const { body } = await ada.call('notes', 'echo');
    expect(readAuthMeta(body)).toMatchObject({ reason: 'rejected' });
    expect(as.counters).toMatchObject({ authorizations, refreshHits: 1 });
    expect(await readRecords(gateway, 'credentials')).toHaveLength(1);
    await eventually('it is in the audit', async () => {
      await clock.advance(1_000);
      return (
        JSON.stringify(await readRecords(gateway, 'audit')).split('credential.sign_in_needed').length === 2
      );
    });
  });
});
