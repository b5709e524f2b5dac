import { describe, expect, test } from '@jest/globals';
import { createReinitRig } from '../../../test/reinitRig.ts';
import { captureRejection, rejectSignIn } from '../../../test/toolcallRig.ts';
import { ReauthNeeded } from '../../credentials/signInRequired.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { principalKey } from '../../principal/principal.ts';
import type { JsonObject } from '../../upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../../upstream/upstreamError.ts';

const apiKey = { source: 'admin', authorization_type: 'bearer', key: 'planted-key' };

const failedAt = (code: 'MCP_UNREACHABLE' | 'MCP_CREDENTIAL_REJECTED') =>
  ({ kind: 'failed', code, since: 0, retryAt: 99 }) as const;

describe('reinitialising', () => {
  test('the attempt is a new connection that passes a breaker, for this user', async () => {
    const rig = createReinitRig({ headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } });
    expect(await rig.run()).toMatchObject({ success: true, oauthRequired: false });
    expect(rig.leases).toHaveLength(1);
    expect(rig.leases[0]).toMatchObject({
      holder: { principal: principalKey(rig.inbound().principal) },
      options: { bypassesBreaker: true, forceNew: true },
    });
    expect(rig.rawOpens).toHaveLength(0);
  });

  test('without force a connection that works is kept, and its list is still asked for', async () => {
    const rig = createReinitRig();
    await rig.run({ forceNew: false });
    expect(rig.leases[0]?.options).toMatchObject({ bypassesBreaker: true, forceNew: false });
    expect(rig.lists()).toHaveLength(1);
  });

  test('a caller waits no longer than they said', async () => {
    const rig = createReinitRig();
    rig.onLease = () => new Promise(() => undefined);
    const running = rig.run({ connectionTimeout: 700 });
    await rig.clock.advance(700);
    expect(await running).toMatchObject({
      success: false,
      message: "Failed to reinitialize MCP server 'odd'",
      failureReason: 'unreachable',
      code: 'MCP_TIMEOUT',
    });
  });

  test('for who lost patience nothing more is begun', async () => {
    const rig = createReinitRig();
    let refuse: () => void = () => undefined;
    rig.onLease = () =>
      new Promise((_resolve, reject) => (refuse = () => reject(new UpstreamError('unauthorized'))));
    const running = rig.run({ connectionTimeout: 700 });
    await rig.clock.advance(700);
    refuse();
    expect(await running).toMatchObject({ oauthRequired: false, code: 'MCP_TIMEOUT' });
    await rig.clock.advance(1);
    expect(rig.rawOpens).toEqual([]);
  });

  test('it counts for an inspection too', async () => {
    const rig = createReinitRig();
    rig.state = failedAt('MCP_UNREACHABLE');
    rig.onReinspect = () => new Promise(() => undefined);
    const running = rig.run({ connectionTimeout: 700 });
    await rig.clock.advance(700);
    expect(await running).toMatchObject({
      success: false,
      message: "MCP server 'odd' is still unreachable",
      code: 'MCP_TIMEOUT',
    });
    expect(rig.leases).toHaveLength(0);
  });

  test('still down is said at once, and nothing is leased', async () => {
    const rig = createReinitRig();
    rig.state = failedAt('MCP_UNREACHABLE');
    rig.onReinspect = async () => failedAt('MCP_UNREACHABLE');
    expect(await rig.run()).toMatchObject({ success: false, failureReason: 'unreachable', retryAt: 99 });
    expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
  });

  test('one that wants a sign-in is not called unreachable', async () => {
    const rig = createReinitRig();
    rig.state = failedAt('MCP_CREDENTIAL_REJECTED');
    rig.onReinspect = async () => failedAt('MCP_CREDENTIAL_REJECTED');
    rig.onLease = () => Promise.reject(new UpstreamError('unauthorized'));
    expect(await rig.run()).toMatchObject({
      oauthRequired: true,
      success: true,
      tools: [{ name: 'search' }],
    });
  });

  test('a server that names fields of a chat waits for one', async () => {
    const rig = createReinitRig({ headers: { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } });
    rig.credential = () => {
      throw new GatewayError('REQUEST_INVALID');
    };
    expect(await rig.run()).toMatchObject({ success: true, connectionDeferred: true, tools: null });
    expect([rig.leases.length, rig.sent.length, rig.rawOpens.length]).toEqual([0, 0, 0]);
  });

  test('values that the user must fill in come first', async () => {
    const rig = createReinitRig({
      headers: { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}', 'x-key': '{{KEY}}' },
      customUserVars: { KEY: { title: 'Key', description: '' } },
    });
    rig.credential = () => {
      const errors = [{ path: 'KEY', code: 'variable_missing', message: 'is not set' }];
      throw new GatewayError('MCP_USER_VARS_MISSING', { errors });
    };
    expect(await rig.run()).toMatchObject({
      success: false,
      failureReason: 'missing_custom_user_vars',
      missingUserVars: ['KEY'],
    });
  });

  test('a store that does not answer is no reason to wait for a chat', async () => {
    const rig = createReinitRig({ headers: { 'x-chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } });
    rig.credential = () => {
      throw new GatewayError('STORE_UNAVAILABLE');
    };
    expect(await captureRejection(rig.run())).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('whoever is refused with an exchanged token is not asked for bare', async () => {
    const obo = { obo: { scopes: 'api://x/.default' } };
    const refused = createReinitRig(obo);
    refused.onLease = () => Promise.reject(new UpstreamError('unauthorized'));
    expect(await refused.run()).toMatchObject({ oauthRequired: false, code: 'MCP_CREDENTIAL_REJECTED' });
    const untrusted = createReinitRig(obo);
    untrusted.isTrusted = false;
    expect(await untrusted.run()).toMatchObject({ oauthRequired: false, code: 'MCP_OBO_FORBIDDEN' });
    expect([...refused.rawOpens, ...untrusted.rawOpens]).toEqual([]);
    expect(untrusted.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
  });

  test('who has nothing to exchange sees the tools that anybody sees', async () => {
    for (const reason of ['absent', 'expired_no_refresh'] as const) {
      const rig = createReinitRig({ obo: { scopes: 'api://x/.default' }, headers: { 'X-Plain': 'p' } });
      rig.credential = () => {
        throw new ReauthNeeded(reason, { code: 'OBO_SUBJECT_TOKEN_MISSING', via: 'session' });
      };
      expect(await rig.run()).toMatchObject({
        success: true,
        oauthRequired: false,
        oauthUrl: null,
        tools: [{ name: 'search' }],
        code: 'OBO_SUBJECT_TOKEN_MISSING',
      });
      expect(rig.rawOpens).toMatchObject([{ target: { headers: { 'x-plain': 'p' } } }]);
      expect(JSON.stringify(rig.rawOpens)).not.toMatch(/authorization|bearer/i);
      expect(rig.leases).toEqual([]);
    }
  });

  test('every other failure of an exchange is told and followed by nothing', async () => {
    const { consent, rejected, temporary, wrong, empty } = {
      consent: new ReauthNeeded('interaction_required', { code: 'OBO_CONSENT_REQUIRED', via: 'session' }),
      rejected: new ReauthNeeded('rejected', { code: 'OBO_REJECTED', via: 'session' }),
      temporary: new GatewayError('OBO_TEMPORARY'),
      wrong: new GatewayError('OBO_MISCONFIGURED'),
      empty: new GatewayError('OBO_EMPTY_RESPONSE'),
    };
    const cases = [
      [consent, 'OBO_CONSENT_REQUIRED', false],
      [rejected, 'OBO_REJECTED', false],
      [temporary, 'OBO_TEMPORARY', true],
      [wrong, 'OBO_MISCONFIGURED', false],
      [empty, 'OBO_EMPTY_RESPONSE', true],
    ] as const;
    for (const [error, code, retryable] of cases) {
      const rig = createReinitRig({ obo: { scopes: 'api://x/.default' } });
      rig.credential = () => {
        throw error;
      };
      expect(await rig.run()).toMatchObject({ success: false, oauthRequired: false, code, retryable });
      expect(rig.rawOpens).toEqual([]);
    }
  });

  test('a key or a value that is refused is not followed by a bare request', async () => {
    const definitions: JsonObject[] = [
      { apiKey },
      { headers: { Authorization: 'Bearer planted' } },
      { headers: { 'X-Api-Key': 'planted' } },
      { headers: { 'X-Mine': '{{MINE}}' }, customUserVars: { MINE: { title: 'Mine', description: '' } } },
      { headers: { 'X-Pat': 'planted' } },
      { headers: { 'X-Forwarded-For-Them': 'Bearer planted' } },
      { headers: { 'X-Them': '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}' } },
      { requiresOAuth: false },
    ];
    for (const definition of definitions) {
      const rig = createReinitRig(definition);
      rig.onLease = () => Promise.reject(new UpstreamError('unauthorized', { status: 401 }));
      expect([definition, await rig.run()]).toEqual([
        definition,
        expect.objectContaining({ success: false, oauthRequired: false, code: 'MCP_CREDENTIAL_REJECTED' }),
      ]);
      expect([definition, rig.rawOpens]).toEqual([definition, []]);
    }
  });

  test('only a 401 means a sign-in, and 403 never does', async () => {
    for (const reason of ['forbidden', 'insufficient_scope'] as const) {
      const rig = createReinitRig();
      rig.onLease = () => Promise.reject(new UpstreamError(reason));
      expect([reason, await rig.run()]).toEqual([
        reason,
        expect.objectContaining({ oauthRequired: false, code: 'MCP_CREDENTIAL_REJECTED' }),
      ]);
      expect(rig.rawOpens).toEqual([]);
    }
  });

  test('what goes out bare belongs to nobody', async () => {
    const rig = createReinitRig({
      requiresOAuth: true,
      apiKey,
      headers: { 'X-Team': 'one', 'X-User': '{{LIBRECHAT_USER_ID}}', 'X-Secret': 'planted' },
    });
    rig.credential = rejectSignIn;
    rig.onRawOpen = () => 'unauthorized';
    expect(await rig.run()).toMatchObject({ success: false, failureReason: 'oauth_required' });
    expect(rig.rawOpens.map(({ openMode }) => openMode)).toEqual(['open', 'without']);
    for (const { target, options } of rig.rawOpens) {
      expect(target).toMatchObject({ headers: { 'x-team': 'one' }, audience: 'yaml-server' });
      expect(JSON.stringify([target, options])).not.toMatch(/planted|u-ada/);
      expect(options.initTimeoutMs).toBeLessThanOrEqual(15_000);
    }
    expect(rig.leases).toHaveLength(0);
  });

  test('another way is tried after a refusal, and after nothing else', async () => {
    for (const [reason, ways] of [
      ['unauthorized', 2],
      ['forbidden', 2],
      ['connect_failed', 1],
      ['timeout', 1],
      ['not_allowed', 1],
    ] as const) {
      const rig = createReinitRig({ requiresOAuth: true });
      rig.credential = rejectSignIn;
      rig.onRawOpen = () => reason;
      expect(await rig.run()).toMatchObject({ success: false, oauthRequired: true });
      expect([reason, rig.rawOpens.length]).toEqual([reason, ways]);
    }
  });

  test('every bare conversation is closed', async () => {
    const rig = createReinitRig({ requiresOAuth: true }, []);
    rig.credential = rejectSignIn;
    await rig.run();
    expect([rig.rawOpens.length, rig.closeCount()]).toEqual([2, 2]);
    const found = createReinitRig({ requiresOAuth: true });
    found.credential = rejectSignIn;
    await found.run();
    expect([found.rawOpens.length, found.closeCount()]).toEqual([1, 1]);
  });

  test('what was found is the user’s own list, and nobody else’s', async () => {
    const rig = createReinitRig({ requiresOAuth: true });
    rig.credential = rejectSignIn;
    expect(await rig.run()).toMatchObject({ success: true, oauthRequired: true, oauthUrl: null });
    const { principal } = rig.inbound();
    expect(rig.catalog.peek(rig.server, principalKey(principal))?.tools).toHaveLength(1);
    expect(rig.catalog.peek(rig.server, principalKey({ ...principal, userId: 'u-bob' }))).toBeUndefined();
  });

  test('tools that the definition hides are not shown', async () => {
    const tools = [{ name: 'search' }, { name: 'drop' }];
    const connected = createReinitRig({ tools: { exclude: ['drop'] } }, tools);
    const bare = createReinitRig({ requiresOAuth: true, tools: { exclude: ['drop'] } }, tools);
    bare.credential = rejectSignIn;
    for (const rig of [connected, bare]) {
      const { tools: shown, success } = await rig.run();
      expect([success, shown?.map(({ name }) => name)]).toEqual([true, ['search']]);
    }
    const nothing = createReinitRig({ requiresOAuth: true, tools: { include: ['other'] } }, tools);
    nothing.credential = rejectSignIn;
    expect(await nothing.run()).toMatchObject({ success: false, failureReason: 'oauth_required' });
  });

  test('each failure is told by its kind', async () => {
    const kinds: [UpstreamReason, object][] = [
      ['connect_failed', { failureReason: 'unreachable', code: 'MCP_UNREACHABLE' }],
      ['connect_timeout', { failureReason: 'unreachable', code: 'MCP_TIMEOUT' }],
      // Nothing was run, so nothing is uncertain.
      ['reset', { failureReason: 'unreachable', code: 'MCP_UNREACHABLE' }],
      ['upstream_5xx', { failureReason: 'unreachable', code: 'MCP_UNREACHABLE' }],
      ['not_allowed', { failureReason: 'unreachable', code: 'MCP_DOMAIN_NOT_ALLOWED' }],
      ['wrong_url', { failureReason: 'initialization_failed', code: 'MCP_PROTOCOL_ERROR' }],
      ['rpc_error', { failureReason: 'initialization_failed', code: 'MCP_PROTOCOL_ERROR' }],
      ['rate_limited', { failureReason: 'initialization_failed', code: 'MCP_RATE_LIMITED' }],
    ];
    for (const [reason, expected] of kinds) {
      const rig = createReinitRig();
      rig.onLease = () => Promise.reject(new UpstreamError(reason));
      expect([reason, await rig.run()]).toEqual([
        reason,
        expect.objectContaining({ success: false, oauthRequired: false, ...expected }),
      ]);
    }
  });

  test('for somebody who has left nothing more is tried', async () => {
    const refused = createReinitRig({ requiresOAuth: true });
    refused.credential = () => {
      refused.leave();
      return rejectSignIn();
    };
    await captureRejection(refused.run());
    expect(refused.rawOpens).toEqual([]);
    const bare = createReinitRig({ requiresOAuth: true });
    bare.credential = rejectSignIn;
    bare.onRawOpen = () => {
      bare.leave();
      return 'unauthorized';
    };
    await captureRejection(bare.run());
    expect(bare.rawOpens).toHaveLength(1);
  });

  test('hidden, unknown and forbidden are told before anything is asked', async () => {
    const rig = createReinitRig();
    rig.canSee = () => false;
    expect(await captureRejection(rig.run())).toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
    const guest = rig.inbound({ principal: { ...rig.inbound().principal, role: 'GUEST' } });
    expect(await captureRejection(rig.run({}, guest))).toMatchObject({ code: 'MCP_FORBIDDEN' });
    expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
  });
});
