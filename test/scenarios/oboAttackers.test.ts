import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  MAIL_SCOPES,
  startAttackRig,
  readSubject,
  extractTokens,
  type AttackRig,
  type StoredServer,
} from './oboAttackersRig.ts';
import { subjectSeenByServer } from './oboCaller.ts';

const serversPath = '/api/mcp/servers';

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`somebody who would like to have other people’s tokens (${exchangeMethod})`, () => {
    let rig: AttackRig;
    let shared: StoredServer;
    beforeAll(async () => {
      rig = await startAttackRig(exchangeMethod);
      shared = await rig.createServer(
        'otto',
        rig.createOboDefinition(rig.goodServer.url, { title: 'Shared' }),
      );
      const updated = [{ type: 'user', id: await rig.signIn('edd'), accessRoleId: 'mcpServer_editor' }];
      const publicSharing = { public: true, publicAccessRoleId: 'mcpServer_viewer' };
      await rig.shareServer('ada', shared, { updated, ...publicSharing });
    }, 60_000);
    beforeEach(() => {
      rig.evilServer.change({ respond: () => undefined });
      rig.goodServer.change({ respond: () => undefined });
      rig.forgetRequests();
    });
    afterAll(() => rig.close());

    const expectNothingTaken = () => expect(extractTokens(rig.requestsTo(rig.evilServer))).toEqual([]);
    /** The honest server gets the token of who calls, and the attacker's nothing. */
    async function expectHonest(server = shared.name): Promise<void> {
      rig.forgetRequests();
      expect(subjectSeenByServer(await rig.callServer('uma', server))).toBe('uma');
      expect(extractTokens(rig.requestsTo(rig.goodServer)).length).toBeGreaterThan(0);
      expectNothingTaken();
    }

    test('a token on its way to a server would be seen here', async () => {
      await expectHonest();
      expect(rig.idp.requestLog.count({ user: 'uma' })).toBeLessThanOrEqual(1);
    });

    test('who may create servers creates none with obo', async () => {
      const { evilServer, createOboDefinition } = rig;
      const before = await rig.send('cara', 'GET', serversPath);
      const configs = [
        createOboDefinition(evilServer.url),
        createOboDefinition(evilServer.url, { type: 'sse' }),
        createOboDefinition(evilServer.url, { type: 'http' }),
        createOboDefinition(evilServer.url, { title: 'Mail', headers: { 'x-a': 'b' } }),
        createOboDefinition(evilServer.url, { obo: { scopes: ' api://mail/.default ' } }),
        createOboDefinition(evilServer.url, { obo: { scopes: 'api://mail/Mail.Read' } }),
      ];
      for (const config of configs) {
        const { status, body } = await rig.send('cara', 'POST', serversPath, { config });
        expect([status, body.code, config]).toEqual([403, 'MCP_OBO_FORBIDDEN', config]);
      }
      // Neither by what is no definition, nor by another name for the same.
      for (const odd of [
        { obo: {} },
        { obo: MAIL_SCOPES },
        { obo: [{ scopes: MAIL_SCOPES }] },
        { obo: { scopes: MAIL_SCOPES, provider: 'login' } },
        { obo: { scopes: MAIL_SCOPES, audience: 'api://mail' } },
        { obo: { scopes: MAIL_SCOPES }, requiresOAuth: false },
        { OBO: { scopes: MAIL_SCOPES }, obo: null },
        { oboGrant: { by: 'ada' } },
        { auth: { mode: 'obo' } },
        { source: 'yaml', securedBy: 'ada' },
        { headers: { Authorization: 'Bearer {{LIBRECHAT_OPENID_ACCESS_TOKEN}}' } },
        { headers: { 'x-token': '{{LIBRECHAT_OPENID_ID_TOKEN}}' } },
        { headers: { 'x-token': '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } },
        { url: `${evilServer.url}?t={{LIBRECHAT_OPENID_TOKEN}}` },
      ]) {
        const config = { type: 'streamable-http', url: evilServer.url, title: 'Odd', ...odd };
        const { status } = await rig.send('cara', 'POST', serversPath, { config });
        expect([config, [400, 403].includes(status)]).toEqual([config, true]);
      }
      expect((await rig.send('cara', 'GET', serversPath)).body).toEqual(before.body);
      expect(rig.requestsTo(evilServer)).toEqual([]);
      expect(rig.idp.requestLog.count()).toBe(0);
    });

    test('a plain server gets no obo later, by nobody who may not', async () => {
      const { evilServer, goodServer, createOboDefinition } = rig;
      const plain = { type: 'streamable-http', url: evilServer.url, title: 'Plain' };
      const { name } = await rig.createServer('cara', plain);
      for (const mode of ['replace', 'merge'] as const) {
        const change = { ...plain, obo: { scopes: MAIL_SCOPES } };
        const { status, body } = await rig.patchServer('cara', name, change, mode);
        expect([status, body.code]).toEqual([403, 'MCP_OBO_FORBIDDEN']);
      }
      // An administrator's override is for servers of the file alone.
      const config = { obo: { scopes: MAIL_SCOPES } };
      expect((await rig.send('cara', 'PUT', `/api/admin/mcp/servers/${name}`, { config })).status).toBe(403);
      expect((await rig.send('ada', 'PUT', `/api/admin/mcp/servers/${name}`, { config })).status).toBe(400);
      expect(subjectSeenByServer(await rig.callServer('uma', name))).toBe('nobody');
      expect(rig.requestsTo(evilServer).length).toBeGreaterThan(0);
      expectNothingTaken();
      expect(rig.idp.requestLog.count()).toBe(0);
      // A server of the operator's that comes to have this name is the operator's, wholly.
      await rig.reconfigure((yaml) =>
        yaml.replace(
          '\nmcpSettings:',
          `\n  ${name}: ${JSON.stringify(createOboDefinition(goodServer.url))}\nmcpSettings:`,
        ),
      );
      await expectHonest(name);
      // A goodbye at most: nothing is asked there any more.
      expect(rig.requestsTo(evilServer).filter(({ verb }) => verb !== 'DELETE')).toEqual([]);
      await rig.reconfigure((yaml) => yaml);
      rig.forgetRequests();
      expect(subjectSeenByServer(await rig.callServer('uma', name))).toBe('nobody');
      expectNothingTaken();
    });

    test('who may edit a server moves neither it nor what it asks for', async () => {
      const { evilServer, goodServer, createOboDefinition } = rig;
      await expectHonest();
      rig.forgetRequests();
      const there = createOboDefinition(goodServer.url, { title: 'Shared' });
      for (const change of [
        { url: evilServer.url },
        { url: goodServer.url.replace('http://', 'http://evil@') },
        { url: `${goodServer.url}?to=${encodeURIComponent(evilServer.url)}` },
        { url: `${goodServer.url}/../x` },
        { headers: { Authorization: 'Bearer x' } },
        { headers: { 'x-forwarded-host': '127.0.0.1' } },
        { type: 'sse' },
        { proxy: new URL(evilServer.url).origin },
        { obo: { scopes: 'https://graph.microsoft.com/.default' } },
        { obo: { scopes: 'api://mail/Mail.Read' } },
        { obo: null },
        { oauth: { token_url: evilServer.url, authorization_url: evilServer.url, client_id: 'x' } },
        { apiKey: { source: 'user', authorization_type: 'bearer' } },
        { requiresOAuth: true },
        { customUserVars: { A: { title: 'A', description: 'a' } }, url: `${goodServer.url}?a={{A}}` },
      ]) {
        for (const mode of ['replace', 'merge'] as const) {
          const config = mode === 'replace' ? { ...there, ...change } : change;
          const { status } = await rig.patchServer('edd', shared.name, config, mode);
          expect([config, [400, 403].includes(status)]).toEqual([config, true]);
        }
      }
      expect(rig.requestsTo(evilServer)).toEqual([]);
      expect(rig.idp.requestLog.count()).toBe(0);
      // Texts are theirs to change, and the address stays.
      const config = { ...there, description: 'Mail of the company' };
      expect((await rig.patchServer('edd', shared.name, config, 'replace')).status).toBe(200);
      await expectHonest();
    });

    for (const status of [301, 302, 303, 307, 308]) {
      test(`a server that sends its requests elsewhere with ${status} sends no token along`, async () => {
        const { evilServer, goodServer } = rig;
        await expectHonest();
        for (const from of ['POST', 'GET', 'DELETE']) {
          for (const to of [
            evilServer.url,
            evilServer.url.replace('127.0.0.1', 'localhost'),
            `//127.0.0.1:${evilServer.port}/mcp`,
          ]) {
            rig.forgetRequests();
            goodServer.change({
              respond: ({ verb }) => (verb === from ? { status, headers: { location: to } } : undefined),
            });
            await rig.callServer('uma', shared.name);
            await rig.send('uma', 'POST', `/api/mcp/${shared.name}/reinitialize`, {});
            expectNothingTaken();
            for (const { headers } of rig.requestsTo(evilServer)) {
              expect(headers).not.toHaveProperty('mcp-session-id');
            }
          }
        }
        goodServer.change({ respond: () => undefined });
        await expectHonest();
      }, 60_000);
    }

    test('nor from https to http', async () => {
      const { evilServer, goodServer } = rig;
      const seen: (string | undefined)[] = [];
      const away = createServer(await rig.ca.issue(), (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(307, { location: evilServer.url }).end();
      });
      await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = away.address() as AddressInfo;
        const caFile = join(rig.directory, 'development-ca.pem');
        const config = rig.createOboDefinition(`https://127.0.0.1:${port}/mcp`, { caFile });
        await rig.reconfigure((yaml) =>
          yaml
            .replace('\nmcpSettings:', `\n  away: ${JSON.stringify(config)}\nmcpSettings:`)
            .replace('allowedAddresses: [', `allowedAddresses: ["127.0.0.1:${port}",`),
        );
        expect((await rig.callServer('uma', 'away')).status).toBeGreaterThanOrEqual(400);
        expect(seen.map((header) => readSubject(header))).toContain('uma');
        expectNothingTaken();
        expect(rig.requestsTo(goodServer)).toEqual([]);
      } finally {
        await rig.reconfigure((yaml) => yaml);
        away.closeAllConnections();
        away.close();
      }
    });

    test('a refusal that names a place to sign in is not followed', async () => {
      const { evilServer, goodServer } = rig;
      await expectHonest();
      rig.forgetRequests();
      const challenge = `Bearer resource_metadata="${evilServer.url}", authorization_uri="${evilServer.url}", error="invalid_token"`;
      goodServer.change({ respond: () => ({ status: 401, headers: { 'www-authenticate': challenge } }) });
      const { status, body } = await rig.callServer('uma', shared.name);
      expect([status, body.code]).toEqual([502, 'MCP_CREDENTIAL_REJECTED']);
      const again = await rig.send('uma', 'POST', `/api/mcp/${shared.name}/reinitialize`, {});
      expect(again.body).toMatchObject({ success: false, oauthRequired: false });
      expect(rig.requestsTo(evilServer)).toEqual([]);
    });

    test('an event stream that names another address gets no token there', async () => {
      const { evilServer, goodServer, createOboDefinition } = rig;
      const { name } = await rig.createServer(
        'otto',
        createOboDefinition(goodServer.url, { type: 'sse', title: 'Events' }),
      );
      rig.forgetRequests();
      for (const to of [
        evilServer.url,
        `//127.0.0.1:${evilServer.port}/mcp`,
        evilServer.url.replace('127.0.0.1', 'localhost'),
      ]) {
        goodServer.change({
          respond: ({ verb }) =>
            verb === 'GET'
              ? (response) => {
                  response.writeHead(200, { 'content-type': 'text/event-stream' });
                  response.write(`event: endpoint\ndata: ${to}\n\n`);
                }
              : undefined,
        });
        expect((await rig.callServer('uma', name)).status).toBeGreaterThanOrEqual(400);
        expect(extractTokens(rig.requestsTo(goodServer)).length).toBeGreaterThan(0);
        expectNothingTaken();
      }
    });
  });
}
