import { aclBits } from '@behalf/contracts';
import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { administrator, createCredentialSummary, createDiagnoseRig } from '../../test/diagnoseRig.ts';
import { adaUser, createCredential } from '../../test/toolcallRig.ts';
import type { Bearer } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

const order = [
  ...['policy', 'variables', 'address', 'dns', 'tls', 'server', 'metadata', 'authorization_server', 'client'],
  ...['credential', 'scopes', 'trust', 'exchange', 'connection', 'tools'],
];

describe('a diagnosis', () => {
  test('names every step of a call, once and in its order', async () => {
    const rig = createDiagnoseRig();
    const view = await rig.run();
    expect(view.steps.map(({ step }) => step)).toEqual(order);
    expect(view).toMatchObject({ serverName: 'odd', ok: true });
    expect(view.failedAt).toBeUndefined();
    expect(view.steps.at(-1)).toMatchObject({ outcome: 'ok', message: 'You can use 2 tools.' });
  });

  test('whatever fails, every step is told, and the first failure named', async () => {
    for (const [field, value, failedAt] of [
      ['networkProblem', 'not_allowed', 'address'],
      ['networkProblem', 'gateway_address', 'address'],
      ['socket', 'certificate', 'tls'],
    ] as const) {
      const rig = createDiagnoseRig();
      Object.assign(rig, { [field]: value });
      const view = await rig.run();
      expect(view).toMatchObject({ ok: false, failedAt });
      expect(view.steps.map(({ step }) => step)).toEqual(order);
      const later = view.steps.slice(order.indexOf(failedAt) + 1);
      expect(later.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
      expect(view.steps.find(({ step }) => step === 'connection')).toMatchObject({
        outcome: 'skipped',
        message: expect.stringMatching(/^Not tried: /),
      });
      expect(rig.spent()).toEqual({ obtained: 0, leases: 0, sent: 0 });
    }
  });

  test('a forbidden server and an unknown one are told alike', async () => {
    const rig = createDiagnoseRig();
    const unknown = await rig.run(adaUser, 'other');
    rig.canSee = () => false;
    const forbidden = await rig.run();
    expect({ ...forbidden, serverName: '' }).toEqual({ ...unknown, serverName: '' });
    expect(forbidden).toMatchObject({ ok: false, failedAt: 'policy' });
    expect(forbidden.steps[0]).toMatchObject({ outcome: 'failed', code: 'MCP_SERVER_NOT_FOUND' });
    expect(forbidden.steps.slice(1).every(({ outcome }) => outcome === 'skipped')).toBe(true);
    expect([rig.judged, rig.connected, rig.openedTargets.length, rig.obtained]).toEqual([0, 0, 0, 0]);
  });

  test('a role without the permission is told so, of any server', async () => {
    const rig = createDiagnoseRig();
    const userWithoutPermission = aPrincipal({ role: 'NOBODY' });
    const known = await rig.run(userWithoutPermission);
    expect(known.steps[0]).toMatchObject({ outcome: 'failed', code: 'MCP_FORBIDDEN' });
    const unknown = await rig.run(userWithoutPermission, 'other');
    expect({ ...known, serverName: '' }).toEqual({ ...unknown, serverName: '' });
  });

  test('who looks after a server without using it is told just that', async () => {
    const rig = createDiagnoseRig();
    rig.canSee = () => false;
    rig.manages = aclBits.VIEW;
    expect((await rig.run(administrator)).steps[0]?.message).toMatch(/^You can manage this server/);
  });

  test('an address is told to who may see it, and to nobody else', async () => {
    const asUser = { source: 'user', author: 'u-maker' } as const;
    for (const networkProblem of [null, 'not_allowed', 'dns'] as const) {
      for (const socket of [null, 'certificate', 'timeout', 'connection', 'proxy'] as const) {
        const rig = createDiagnoseRig({ url: 'https://secret-host.example/pl4nted?key=pl4nted' }, [], asUser);
        Object.assign(rig, { networkProblem, socket });
        const hidden = JSON.stringify(await rig.run());
        expect(hidden).not.toMatch(/secret-host|pl4nted/);
        rig.manages = aclBits.VIEW | aclBits.EDIT;
        const shown = JSON.stringify(await rig.run());
        expect(shown).toContain('secret-host.example');
        expect(shown).not.toContain('pl4nted');
      }
    }
    const operators = createDiagnoseRig({ url: 'https://secret-host.example/mcp' });
    operators.manages = aclBits.VIEW | aclBits.EDIT;
    expect(JSON.stringify(await operators.run())).not.toContain('secret-host');
    expect(JSON.stringify(await operators.run(administrator))).toContain('secret-host.example');
  });

  test('what a server says, and what it is given, is never repeated', async () => {
    const planted = 'pl4nted';
    const challenge = {
      scheme: planted,
      error: planted,
      scope: planted,
      resourceMetadata: planted,
      claims: planted,
    };
    const rpc = { code: 1, message: planted };
    const definition = { headers: { authorization: 'Bearer pl4nted', 'x-user': '{{LIBRECHAT_USER_ID}}' } };
    for (const reason of [
      'unauthorized',
      'forbidden',
      'redirected',
      'wrong_url',
      'rpc_error',
      'upstream_5xx',
    ] as const) {
      const error = new UpstreamError(reason, { challenge, rpc, redirectedTo: planted });
      const before = createDiagnoseRig(definition);
      before.onOpen = () => Promise.reject(error);
      const after = createDiagnoseRig(definition);
      after.onLease = () => Promise.reject(error);
      for (const rig of [before, after]) {
        expect(JSON.stringify(await rig.run(administrator))).not.toContain(planted);
      }
    }
  });

  test('the first question carries nothing that could authorise anybody', async () => {
    const rig = createDiagnoseRig({
      apiKey: { source: 'admin', authorization_type: 'bearer', key: 'pl4nted' },
    });
    await rig.run();
    expect(rig.openedTargets).toHaveLength(1);
    expect(JSON.stringify(rig.openedTargets)).not.toContain('pl4nted');
  });

  test('a refused token is not renewed, and nothing takes its place', async () => {
    const rig = createDiagnoseRig({ headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } });
    let renewals = 0;
    const bearer: Bearer = {
      token: () => 'token',
      renew: async () => ((renewals += 1), true),
      hasRenewed: () => false,
      presentedTokens: () => [],
      toScopeError: () => new Error('asks for more'),
    };
    const { target, binding } = createCredential(rig.server, adaUser);
    if (target.type === 'stdio') throw new Error('It has no address');
    rig.credential = () => ({ target: { ...target, bearer }, binding });
    for (const reason of ['unauthorized', 'insufficient_scope'] as const) {
      rig.onLease = () => Promise.reject(new UpstreamError(reason));
      expect(await rig.step('connection')).toMatchObject({
        outcome: 'failed',
        code: 'MCP_CREDENTIAL_REJECTED',
      });
    }
    expect(renewals).toBe(0);
    expect(rig.leases).toHaveLength(2);
    rig.onLease = undefined;
    expect(await rig.step('connection')).toMatchObject({ outcome: 'ok' });
  });

  test('a step that does not end is given up after 5 s, and later ones go on', async () => {
    const rig = createDiagnoseRig({ headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } });
    rig.onLease = () => new Promise(() => undefined);
    const running = rig.run();
    await rig.clock.advance(5_000);
    const view = await running;
    expect(view.steps.find(({ step }) => step === 'connection')).toMatchObject({
      outcome: 'failed',
      code: 'MCP_TIMEOUT',
      durationMs: 5_000,
    });
    expect(view.steps.map(({ step }) => step)).toEqual(order);
  });

  test('all of it ends after 30 s', async () => {
    const rig = createDiagnoseRig({ requiresOAuth: true });
    rig.summary = createCredentialSummary();
    // Slow everywhere, and nowhere slow enough to be given up.
    rig.delayMs = 4_900;
    rig.onLease = () => new Promise(() => undefined);
    const running = rig.run();
    await rig.clock.advance(30_000);
    const view = await running;
    expect(view.steps.map(({ step }) => step)).toEqual(order);
    expect(view.steps.at(-2)).toMatchObject({ step: 'connection', code: 'MCP_TIMEOUT', durationMs: 600 });
  });

  test('who leaves is not looked for any further', async () => {
    const rig = createDiagnoseRig();
    rig.onOpen = () => rig.leave();
    await expect(rig.run()).rejects.toThrow();
    expect(rig.leases).toHaveLength(0);
  });

  test('what breaks here is a finding without its words', async () => {
    const rig = createDiagnoseRig();
    rig.onOpen = () => Promise.reject(new Error('pl4nted'));
    const view = await rig.run();
    expect(view.steps.find(({ step }) => step === 'server')).toMatchObject({
      outcome: 'failed',
      code: 'INTERNAL',
    });
    expect(JSON.stringify(view)).not.toContain('pl4nted');
    expect(rig.logged).toEqual(['diagnosis_step_failed']);
  });
});
