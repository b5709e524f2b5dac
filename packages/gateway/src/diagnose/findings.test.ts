import { describe, expect, test } from '@jest/globals';
import { NO_PROVIDER } from '@behalf/settings';
import {
  administrator,
  createCredentialSummary,
  createDiagnoseRig,
  discoveredServer,
} from '../../test/diagnoseRig.ts';
import { SignInImpossible, type SignInProblem } from '../credentials/oauth/signInTarget.ts';
import { ReauthNeeded, SignInRequired, signInReasons } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';
import { explainSignInReason } from './checkCredential.ts';

const oauth = { requiresOAuth: true };
const HOUR = 3_600_000;

describe('what a diagnosis finds', () => {
  test('on the way to a server each cause is told apart', async () => {
    const rig = createDiagnoseRig();
    rig.networkProblem = 'not_allowed';
    expect(await rig.step('address')).toMatchObject({ outcome: 'failed', code: 'MCP_DOMAIN_NOT_ALLOWED' });
    rig.networkProblem = 'dns';
    rig.socket = 'dns';
    expect(await rig.step('address')).toMatchObject({ outcome: 'ok' });
    expect(await rig.step('dns')).toMatchObject({ outcome: 'failed', code: 'MCP_UNREACHABLE' });
    // A proxy knew the name.
    rig.socket = null;
    expect(await rig.step('dns')).toMatchObject({ outcome: 'skipped' });
    expect((await rig.run()).ok).toBe(true);
    rig.networkProblem = null;
    for (const [problem, code, words] of [
      ['certificate', 'MCP_UNREACHABLE', /certificate/],
      ['timeout', 'MCP_TIMEOUT', /in time/],
      ['proxy', 'MCP_UNREACHABLE', /proxy/],
      ['connection', 'MCP_UNREACHABLE', /does not accept/],
    ] as const) {
      rig.socket = problem;
      expect(await rig.step('tls')).toMatchObject({
        outcome: 'failed',
        code,
        message: expect.stringMatching(words),
      });
    }
  });

  test('an address that anybody can read along is warned of', async () => {
    expect(await createDiagnoseRig({ url: 'http://mcp.example/mcp' }).step('tls')).toMatchObject({
      outcome: 'warning',
    });
    expect(await createDiagnoseRig({ url: 'http://localhost:1/mcp' }).step('tls')).toMatchObject({
      outcome: 'ok',
    });
  });

  test('a process has no address, and one that is not known is not asked', async () => {
    const child = await createDiagnoseRig({ command: 'node', args: [] }).run();
    expect(child.ok).toBe(true);
    expect(child.steps.filter(({ message }) => message.includes('process of this gateway'))).toHaveLength(7);
    const lacking = createDiagnoseRig({
      url: 'https://mcp.example/{{PLACE}}',
      customUserVars: { PLACE: { title: 'Place', description: '' } },
    });
    lacking.flags = { PLACE: false };
    const view = await lacking.run();
    expect(view).toMatchObject({ ok: false, failedAt: 'variables' });
    expect(view.steps[1]).toMatchObject({
      code: 'MCP_USER_VARS_MISSING',
      message: expect.stringContaining('PLACE'),
    });
    expect([lacking.openedTargets.length, lacking.obtained]).toEqual([0, 0]);
  });

  test('if the variables cannot be read, the network steps still run', async () => {
    const rig = createDiagnoseRig({
      url: 'https://mcp.example/mcp',
      headers: { 'X-Place': '{{PLACE}}' },
      customUserVars: { PLACE: { title: 'Place', description: '' } },
    });
    Object.defineProperty(rig, 'flags', {
      get: () => {
        throw new GatewayError('STORE_UNAVAILABLE');
      },
    });
    const { steps } = await rig.run();
    const outcomes = new Map(steps.map(({ step, outcome }) => [step, outcome]));
    expect(outcomes.get('variables')).toBe('failed');
    expect(outcomes.get('address')).toBe('ok');
  });

  test('what the server answers to nobody in particular is judged', async () => {
    const bearer = {
      ...{ scheme: 'bearer', error: undefined, scope: undefined, claims: undefined },
      resourceMetadata: 'https://mcp.example/.well-known/oauth-protected-resource',
    };
    const listFindings = async (definition: object, reason: UpstreamReason, challenge?: typeof bearer) => {
      const rig = createDiagnoseRig({ ...definition });
      rig.summary = createCredentialSummary();
      rig.onOpen = () => Promise.reject(new UpstreamError(reason, challenge ? { challenge } : {}));
      return (await rig.step('server'))?.outcome;
    };
    expect(await listFindings(oauth, 'unauthorized', bearer)).toBe('ok');
    expect(await listFindings(oauth, 'unauthorized')).toBe('warning');
    expect(await listFindings({ headers: { 'x-key': 'k' } }, 'unauthorized')).toBe('ok');
    for (const reason of [
      'wrong_url',
      'redirected',
      'upstream_5xx',
      'invalid_response',
      'timeout',
    ] as const) {
      expect(await listFindings(oauth, reason)).toBe('failed');
    }
  });

  test('what is wrong with a sign-in is told at its own step', async () => {
    const cases: readonly (readonly [SignInProblem, string])[] = [
      ['no_metadata', 'metadata'],
      ['resource_mismatch', 'metadata'],
      ['metadata_invalid', 'metadata'],
      ['no_authorization_server', 'authorization_server'],
      ['issuer_mismatch', 'authorization_server'],
      ['pkce_missing', 'authorization_server'],
    ];
    for (const [problem, step] of cases) {
      const rig = createDiagnoseRig(oauth);
      rig.summary = createCredentialSummary();
      rig.discover = () => Promise.reject(new SignInImpossible(problem));
      const view = await rig.run();
      expect([problem, view.failedAt]).toEqual([problem, step]);
      expect(view.steps.find((one) => one.step === 'client')).toMatchObject({ outcome: 'skipped' });
      // Who is signed in already can call all the same.
      expect(view.steps.find((one) => one.step === 'connection')).toMatchObject({ outcome: 'ok' });
    }
    for (const [code, step] of [
      ['MCP_AUTHORIZATION_SERVER_REFUSED', 'authorization_server'],
      ['MCP_DOMAIN_NOT_ALLOWED', 'authorization_server'],
      ['UPSTREAM_AUTH_UNAVAILABLE', 'metadata'],
    ] as const) {
      const rig = createDiagnoseRig(oauth);
      rig.discover = () => Promise.reject(new GatewayError(code));
      expect(await rig.run()).toMatchObject({ failedAt: step });
    }
  });

  test('how we would present ourselves is told, and nothing is registered', async () => {
    const rig = createDiagnoseRig(oauth);
    expect(await rig.step('client')).toMatchObject({
      outcome: 'ok',
      message: expect.stringContaining('first sign-in'),
    });
    rig.client = { ...rig.client, clientId: 'c1' };
    expect(await rig.step('client')).toMatchObject({
      message: 'The gateway is registered there as a client.',
    });
    rig.client = { ...rig.client, source: 'configured' };
    expect(await rig.step('client')).toMatchObject({ message: 'The definition names the OAuth client.' });
    rig.client = { ...rig.client, source: 'dynamic', clientId: '' };
    rig.discover = async () => ({
      ...discoveredServer,
      asMetadata: { ...discoveredServer.asMetadata, registrationEndpoint: null },
    });
    expect(await rig.step('client')).toMatchObject({
      outcome: 'failed',
      code: 'MCP_AUTHORIZATION_UNAVAILABLE',
    });
  });

  test('the authorization server is named to who may see addresses', async () => {
    const rig = createDiagnoseRig(oauth);
    expect(JSON.stringify(await rig.run())).not.toContain('as.example');
    expect(JSON.stringify(await rig.run(administrator))).toContain('as.example');
  });

  test('how a sign-in stands decides', async () => {
    const rig = createDiagnoseRig(oauth);
    const outcome = async () => (await rig.step('credential'))?.outcome;
    expect(await rig.step('credential')).toMatchObject({
      outcome: 'failed',
      code: 'MCP_AUTHORIZATION_REQUIRED',
    });
    expect(await rig.step('connection')).toMatchObject({ outcome: 'skipped' });
    const now = rig.clock.now();
    for (const [summary, expected] of [
      [{}, 'ok'],
      [{ expiresAt: now + HOUR }, 'ok'],
      [{ expiresAt: now - 1 }, 'ok'],
      [{ expiresAt: now - 1, hasRefreshToken: false }, 'failed'],
      [{ status: 'rejected', reason: 'rejected', expiresAt: now + HOUR }, 'warning'],
      [{ status: 'rejected', reason: 'lost_rotation', expiresAt: now - 1 }, 'failed'],
      [{ status: 'revoked', reason: 'revoked' }, 'failed'],
      [{ status: 'unbound', reason: 'unbound' }, 'failed'],
      [{ status: 'unreadable', reason: null }, 'failed'],
    ] as const) {
      rig.summary = createCredentialSummary(summary);
      expect([summary, await outcome()]).toEqual([summary, expected]);
    }
  });

  test('what else is presented is named by kind', async () => {
    for (const [definition, words] of [
      [{}, /All users share one connection/],
      [{ headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } }, /the credential in its definition/],
      [
        { customUserVars: { K: { title: 'K', description: '' } }, headers: { 'x-k': '{{K}}' } },
        /that you entered/,
      ],
      [{ auth: 'optional' }, /accepts requests without/],
    ] as const) {
      const rig = createDiagnoseRig(definition);
      rig.flags = { K: true };
      expect((await rig.step('credential'))?.message).toMatch(words);
    }
  });

  test('why somebody has to sign in has a sentence each', async () => {
    expect(new Set(signInReasons.map(explainSignInReason)).size).toBe(signInReasons.length);
    expect(explainSignInReason('pl4nted')).not.toContain('pl4nted');
    const rig = createDiagnoseRig({ headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } });
    rig.credential = () => {
      throw new SignInRequired('unbound');
    };
    expect(await rig.step('connection')).toMatchObject({
      outcome: 'failed',
      code: 'MCP_AUTHORIZATION_REQUIRED',
      message: explainSignInReason('unbound'),
    });
  });

  test('what was granted is compared with what is asked for', async () => {
    const rig = createDiagnoseRig(oauth);
    rig.summary = createCredentialSummary({ scopes: 'read' });
    rig.discover = async () => ({ ...discoveredServer, challengedScope: 'read pl4nted offline_access' });
    const counted = await rig.step('scopes');
    expect(counted).toMatchObject({ outcome: 'warning', message: expect.stringContaining('1 of 3 scopes') });
    expect(counted?.message).not.toContain('pl4nted');
    rig.discover = async () => ({ ...discoveredServer, challengedScope: 'read' });
    expect(await rig.step('scopes')).toMatchObject({ outcome: 'ok' });
    const written = createDiagnoseRig({ oauth: { scope: 'read write' } });
    written.summary = createCredentialSummary({ scopes: 'read' });
    expect(await written.step('scopes')).toMatchObject({
      outcome: 'warning',
      message: expect.stringContaining('write'),
    });
  });

  test('nothing is exchanged for a server that is not trusted', async () => {
    const rig = createDiagnoseRig({ obo: { scopes: 'api://x/.default' } });
    expect((await rig.run()).ok).toBe(true);
    rig.isTrusted = false;
    const before = rig.obtained;
    const view = await rig.run();
    expect(view).toMatchObject({ ok: false, failedAt: 'trust' });
    expect(view.steps.find(({ step }) => step === 'exchange')).toMatchObject({ outcome: 'skipped' });
    expect(rig.obtained).toBe(before);
    rig.isTrusted = true;
    rig.oboProblem = { code: NO_PROVIDER, message: 'm', suggestion: 's', path: ['obo'] };
    expect(await rig.step('trust')).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    rig.oboProblem = { ...rig.oboProblem, code: 'other' };
    expect(await rig.step('trust')).toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
  });

  test('whose turn it is when no token could be had', async () => {
    const rig = createDiagnoseRig({ obo: { scopes: 'api://x/.default' } });
    for (const [error, code] of [
      [
        new ReauthNeeded('absent', { code: 'OBO_SUBJECT_TOKEN_MISSING', via: 'session' }),
        'OBO_SUBJECT_TOKEN_MISSING',
      ],
      [new GatewayError('OBO_TEMPORARY'), 'OBO_TEMPORARY'],
      [new GatewayError('API_KEY_SCOPE'), 'API_KEY_SCOPE'],
    ] as const) {
      rig.credential = () => {
        throw error;
      };
      expect(await rig.step('exchange')).toMatchObject({ outcome: 'failed', code });
      expect(await rig.step('connection')).toMatchObject({ outcome: 'skipped' });
    }
  });

  test('tools that the policy hides are counted and not named', async () => {
    const rig = createDiagnoseRig({ tools: { exclude: ['drop*'] } }, [
      { name: 'search' },
      { name: 'drop_pl4nted' },
    ]);
    const view = await rig.run();
    expect(view.steps.at(-1)).toMatchObject({
      outcome: 'ok',
      message: 'You can use one tool; hidden by the policy: 1.',
    });
    expect(JSON.stringify(view)).not.toContain('pl4nted');
    expect(await createDiagnoseRig({}, []).step('tools')).toMatchObject({ outcome: 'warning' });
  });
});
