import { createDevIdp } from '@behalf/devidp';
import {
  createOboTokens,
  createOboTrust,
  type SendParts,
  type OboTokenParts,
  type OboTrustParts,
  type ServerSnapshot,
} from '@behalf/gateway';
import { systemClock } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startInProcess } from './inProcess.ts';
import { createAdjustableClock, type AdjustableClock } from './adjustableClock.ts';
import {
  MAIL_SCOPES,
  startAttackRig,
  extractTokens,
  startWhoamiServer,
  type AttackRig,
} from './oboAttackersRig.ts';
import { callWithToken, subjectSeenByServer } from './oboCaller.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

describe('what Behalf does where others do not', () => {
  let rig: AttackRig;
  let clock: AdjustableClock;
  beforeAll(async () => {
    clock = createAdjustableClock();
    rig = await startAttackRig('entra-secret', { clock });
  }, 60_000);
  beforeEach(() => {
    rig.goodServer.change({ respond: () => undefined });
    rig.forgetRequests();
  });
  afterAll(() => rig.close());

  test('without who decides about trust nothing can be built', () => {
    const without = <T, K extends keyof T>(parts: T, _key: K): Omit<T, K> => parts;
    const tokens = {} as OboTokenParts;
    const trust = {} as OboTrustParts;
    const builds = [
      // @ts-expect-error without an answer about trust
      () => createOboTokens(without(tokens, 'trust')),
      // @ts-expect-error without an answer about targets
      () => createOboTokens(without(tokens, 'targets')),
      // @ts-expect-error without whose token it is
      () => createOboTokens(without(tokens, 'subjects')),
      // @ts-expect-error without the server as it is now
      () => createOboTokens(without(tokens, 'current')),
      // @ts-expect-error without anybody to write it down
      () => createOboTokens(without(tokens, 'record')),
      // @ts-expect-error without roles
      () => createOboTrust(without(trust, 'roles')),
      // @ts-expect-error without an end of what a token said
      () => createOboTrust(without(trust, 'authorMaxAgeMs')),
      // @ts-expect-error nor is a call made without it
      (parts: Omit<SendParts, 'oboTrust'>): SendParts => parts,
    ];
    expect(builds).toHaveLength(8);
  });

  test('where nobody can say who is trusted, nobody is', async () => {
    const silent = {
      ...{
        clock: systemClock,
        authorMaxAgeMs: 60_000,
        log: () => undefined,
        audit: { note: () => undefined },
      },
      changes: { publish: async () => undefined, subscribe: () => () => undefined, syncedUntil: () => 0 },
      users: { findById: () => Promise.reject(new Error('nobody answers')) },
      roles: { roleHasPermission: () => true, isFresh: () => true, refresh: async () => undefined },
    };
    const trust = createOboTrust(silent);
    const server = {
      source: 'user',
      tenant: 'default',
      securityDecision: { decidedBy: 'otto', isIntact: true },
    };
    expect(await trust.isTrusted(server as ServerSnapshot)).toBe(false);
    const noSeal = { ...server, securityDecision: undefined };
    expect(await trust.isTrusted(noSeal as unknown as ServerSnapshot)).toBe(false);
    trust.close();
  });

  test('an override of nothing but obo counts, and is shown', async () => {
    const path = '/api/admin/mcp/servers/mail';
    expect(subjectSeenByServer(await rig.callServer('uma', 'mail'))).toBe('uma');
    const config = { obo: { scopes: 'api://mail/Mail.Read' } };
    const put = await rig.send('ada', 'PUT', path, { config });
    expect([put.status, put.body]).toMatchObject([200, { effective: config, override: { config } }]);
    expect((await rig.send('ada', 'GET', path)).body).toMatchObject({
      effective: { ...config, source: 'config' },
    });
    rig.forgetRequests();
    expect(subjectSeenByServer(await rig.callServer('uma', 'mail'))).toBe('uma');
    expect(rig.idp.requestLog.entries.map(({ scope }) => scope?.split(' ')[0])).toEqual([
      'api://mail/Mail.Read',
    ]);
    expect((await rig.send('ada', 'DELETE', path)).status).toBe(200);
    await rig.signIn('uma');
    rig.forgetRequests();
    expect(subjectSeenByServer(await rig.callServer('uma', 'mail'))).toBe('uma');
    expect(rig.idp.requestLog.entries.map(({ scope }) => scope?.split(' ')[0])).toEqual([MAIL_SCOPES]);
  });

  test('trust follows who decided last, and nobody else', async () => {
    const { goodServer, createOboDefinition } = rig;
    const config = createOboDefinition(goodServer.url, { title: 'Handed on' });
    const { name, id } = await rig.createServer('otto', config);
    const [otto, olga] = [await rig.signIn('otto'), await rig.signIn('olga')];
    const updated = [{ type: 'user', id: olga, accessRoleId: 'mcpServer_editor' }];
    const publicSharing = { public: true, publicAccessRoleId: 'mcpServer_viewer' };
    await rig.shareServer('ada', { name, id }, { updated, ...publicSharing });
    const role = async (user: string, next: string) => {
      const { status } = await rig.send('ada', 'PATCH', `/api/admin/users/${user}`, { role: next });
      expect(status).toBe(200);
    };
    const codeOf = async () => {
      const { status, body } = await rig.callServer('uma', name);
      return status === 200 ? subjectSeenByServer({ body }) : body.code;
    };
    // A text decides nothing: it is still Otto's word.
    expect((await rig.patchServer('olga', name, { ...config, title: 'Handed on' }, 'replace')).status).toBe(
      200,
    );
    expect((await rig.patchServer('olga', name, { description: 'Of both' }, 'merge')).status).toBe(200);
    await role(otto, 'CREATOR');
    expect(await codeOf()).toBe('MCP_OBO_FORBIDDEN');
    // An address does, and then it is hers.
    expect((await rig.patchServer('olga', name, { url: `${goodServer.url}?two` }, 'merge')).status).toBe(200);
    expect(await codeOf()).toBe('uma');
    await role(olga, 'CREATOR');
    rig.forgetRequests();
    expect(await codeOf()).toBe('MCP_OBO_FORBIDDEN');
    // Giving it back to the first one changes nothing.
    await role(otto, 'AUTHOR');
    expect(await codeOf()).toBe('MCP_OBO_FORBIDDEN');
    expect(rig.requestsTo(goodServer)).toEqual([]);
    await role(olga, 'AUTHOR');
    expect(await codeOf()).toBe('uma');
  });

  test('the same definition in other words is no change of it', async () => {
    const { goodServer, createOboDefinition } = rig;
    const config = createOboDefinition(goodServer.url, {
      title: 'Same',
      headers: { 'X-One': '1', 'X-Two': '2' },
    });
    const { name, id } = await rig.createServer('otto', config);
    const updated = [{ type: 'user', id: await rig.signIn('edd'), accessRoleId: 'mcpServer_editor' }];
    await rig.shareServer('ada', { name, id }, { updated });
    const before = (await rig.send('edd', 'GET', `/api/mcp/servers/${name}`)).body;
    const reversed = Object.fromEntries(Object.entries(config).reverse());
    for (const [change, mode] of [
      [reversed, 'replace'],
      [{ ...reversed, headers: { 'X-Two': '********', 'X-One': '********' } }, 'replace'],
      [{ ...config, proxy: null, oauth: null, apiKey: null }, 'replace'],
      [{ obo: { scopes: MAIL_SCOPES } }, 'merge'],
      [{ obo: { scopes: ` ${MAIL_SCOPES}  ${MAIL_SCOPES}` } }, 'merge'],
      [{}, 'merge'],
    ] as const) {
      const { status, body } = await rig.patchServer('edd', name, change, mode);
      expect([change, status, body.code]).toEqual([change, 200, undefined]);
    }
    expect((await rig.send('edd', 'GET', `/api/mcp/servers/${name}`)).body).toEqual(before);
  });

  test('a server that refuses begins no sign-in of its own', async () => {
    const { goodServer, evilServer, createOboDefinition } = rig;
    const { name } = await rig.createServer(
      'otto',
      createOboDefinition(goodServer.url, { title: 'Refuses' }),
    );
    const challenge = `Bearer resource_metadata="${evilServer.url}", scope="all"`;
    goodServer.change({ respond: () => ({ status: 401, headers: { 'www-authenticate': challenge } }) });
    const { status, body } = await rig.callServer('uma', name);
    expect([status, body.code]).toEqual([502, 'MCP_CREDENTIAL_REJECTED']);
    const again = await rig.send('uma', 'POST', `/api/mcp/${name}/reinitialize`, {});
    expect(again.body).toMatchObject({ success: false, oauthRequired: false, oauthUrl: null });
    const { body: responseBody } = await rig.send('uma', 'GET', `/api/mcp/connection/status/${name}`);
    expect(responseBody).toMatchObject({ requiresOAuth: false, authorizationState: 'not_required' });
    expect(rig.requestsTo(evilServer)).toEqual([]);
    // Nothing was asked without a token, nor anywhere but at the server's own address.
    expect(new Set(rig.requestsTo(goodServer).map(({ path }) => path))).toEqual(new Set(['/mcp']));
    expect(extractTokens(rig.requestsTo(goodServer)).length).toBeGreaterThanOrEqual(
      rig.requestsTo(goodServer).length,
    );
  });

  test('a kept token ends when it ends, however often it is used', async () => {
    const token = rig.mintToken('vic', { lifetimeSeconds: 4 * 3_600 });
    const minutes = async (count: number) => {
      clock.advance(count * 60_000);
      expect(subjectSeenByServer(await callWithToken(rig, token, 'mail'))).toBe('vic');
      // Others may have something renewed meanwhile.
      return rig.idp.requestLog.count({ user: 'vic' });
    };
    expect(await minutes(0)).toBe(1);
    expect([await minutes(30), await minutes(20), await minutes(8)]).toEqual([1, 1, 1]);
    // With half a minute left it is not used any more.
    expect(await minutes(1.5)).toBe(2);
    expect([await minutes(30), await minutes(28)]).toEqual([2, 2]);
    expect(await minutes(1.5)).toBe(3);
  });

  test('each exchange is written down, and each use of what it brought', async () => {
    const { goodServer, createOboDefinition, idp } = rig;
    const { name, id } = await rig.createServer(
      'otto',
      createOboDefinition(goodServer.url, { title: 'Written down' }),
    );
    const uma = await rig.signIn('uma');
    await rig.callServer('uma', name);
    await rig.callServer('uma', name);
    idp.switches.set(
      { kind: 'claims', claims: '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}' },
      { user: 'uma' },
    );
    await rig.signIn('uma');
    expect((await rig.callServer('uma', name)).status).toBe(401);
    idp.switches.clear();
    const events = await eventually('the events to be written', async () => {
      const text = await (
        await fetch(new URL('/api/admin/audit/export', rig.url), {
          headers: { authorization: `Bearer ${rig.tokenFor('ada')}` },
        })
      ).text();
      const all = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const ours = all.filter(({ serverId }) => serverId === id).reverse();
      return ours.filter(({ action }) => action === 'tool.call').length === 3 ? ours : null;
    });
    const actor = { kind: 'user', id: uma, by: 'bearer' };
    const expectedEvent = { actor, server: name, authority: 'exchanged', scopes: [MAIL_SCOPES] };
    const exchanges = events.filter(({ action }) => action === 'obo.exchange');
    expect(exchanges).toMatchObject([
      { ...expectedEvent, kind: 'credential', outcome: 'ok' },
      { ...expectedEvent, kind: 'credential', outcome: 'refused', code: 'OBO_CONSENT_REQUIRED' },
    ]);
    // The second call is there without an exchange: it used what was kept.
    expect(events.filter(({ action }) => action === 'tool.call')).toMatchObject([
      { ...expectedEvent, outcome: 'ok' },
      { ...expectedEvent, outcome: 'ok' },
      { actor, outcome: 'refused' },
    ]);
  });
});

describe('a gateway that is no client of its identity provider', () => {
  test('a call that needs an exchange says what is missing', async () => {
    const server = await startWhoamiServer();
    const idp = await createDevIdp({
      ...{ isProduction: false, port: 0, audience: 'api://behalf' },
      users: [{ id: 'uma', email: 'uma@example.test', name: 'Uma', roles: ['USER'] }],
      clients: [{ id: 'chat', secret: 'secret-of-the-chat' }],
    });
    const gateway = await startInProcess(
      { OPENID_ISSUER: idp.issuer, OPENID_AUDIENCE: 'api://behalf' },
      renderYaml({ mail: httpDefinition(server.url, { obo: { scopes: 'Mail.Read' } }) }),
    );
    try {
      const { status, body } = await callWithToken(gateway, idp.tokens.mint({ user: 'uma' }));
      expect([status, body.code]).toEqual([500, 'OBO_MISCONFIGURED']);
      expect(server.requests).toEqual([]);
      expect(idp.requestLog.entries).toEqual([]);
    } finally {
      await gateway.close();
      await idp.close();
      await server.close();
    }
  });
});
