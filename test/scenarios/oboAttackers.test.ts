import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  SCOPES,
  startAttackScene,
  subjectOf,
  tokensIn,
  type AttackScene,
  type StoredServer,
} from './oboAttackersScene.ts';
import { seenBy } from './oboCaller.ts';

const serversPath = '/api/mcp/servers';

for (const way of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`somebody who would like to have other people’s tokens (${way})`, () => {
    let scene: AttackScene;
    let shared: StoredServer;
    beforeAll(async () => {
      scene = await startAttackScene(way);
      shared = await scene.publish('otto', scene.obo(scene.good.url, { title: 'Shared' }));
      const updated = [{ type: 'user', id: await scene.signIn('edd'), accessRoleId: 'mcpServer_editor' }];
      const everybody = { public: true, publicAccessRoleId: 'mcpServer_viewer' };
      await scene.share('ada', shared, { updated, ...everybody });
    }, 60_000);
    beforeEach(() => {
      scene.evil.change({ respond: () => undefined });
      scene.good.change({ respond: () => undefined });
      scene.forget();
    });
    afterAll(() => scene.close());

    const expectNothingTaken = () => expect(tokensIn(scene.sentTo(scene.evil))).toEqual([]);
    /** The honest server gets the token of who calls, and the attacker's nothing. */
    async function expectHonest(server = shared.name): Promise<void> {
      scene.forget();
      expect(seenBy(await scene.call('uma', server))).toBe('uma');
      expect(tokensIn(scene.sentTo(scene.good)).length).toBeGreaterThan(0);
      expectNothingTaken();
    }

    test('a token on its way to a server would be seen here', async () => {
      await expectHonest();
      expect(scene.idp.requests.count({ user: 'uma' })).toBeLessThanOrEqual(1);
    });

    test('who may create servers creates none with obo', async () => {
      const { evil, obo } = scene;
      const before = await scene.ask('cara', 'GET', serversPath);
      const configs = [
        obo(evil.url),
        obo(evil.url, { type: 'sse' }),
        obo(evil.url, { type: 'http' }),
        obo(evil.url, { title: 'Mail', headers: { 'x-a': 'b' } }),
        obo(evil.url, { obo: { scopes: ' api://mail/.default ' } }),
        obo(evil.url, { obo: { scopes: 'api://mail/Mail.Read' } }),
      ];
      for (const config of configs) {
        const { status, body } = await scene.ask('cara', 'POST', serversPath, { config });
        expect([status, body.code, config]).toEqual([403, 'MCP_OBO_FORBIDDEN', config]);
      }
      // Neither by what is no definition, nor by another name for the same.
      for (const odd of [
        { obo: {} },
        { obo: SCOPES },
        { obo: [{ scopes: SCOPES }] },
        { obo: { scopes: SCOPES, provider: 'login' } },
        { obo: { scopes: SCOPES, audience: 'api://mail' } },
        { obo: { scopes: SCOPES }, requiresOAuth: false },
        { OBO: { scopes: SCOPES }, obo: null },
        { oboGrant: { by: 'ada' } },
        { auth: { mode: 'obo' } },
        { source: 'yaml', securedBy: 'ada' },
        { headers: { Authorization: 'Bearer {{LIBRECHAT_OPENID_ACCESS_TOKEN}}' } },
        { headers: { 'x-token': '{{LIBRECHAT_OPENID_ID_TOKEN}}' } },
        { headers: { 'x-token': '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } },
        { url: `${evil.url}?t={{LIBRECHAT_OPENID_TOKEN}}` },
      ]) {
        const config = { type: 'streamable-http', url: evil.url, title: 'Odd', ...odd };
        const { status } = await scene.ask('cara', 'POST', serversPath, { config });
        expect([config, [400, 403].includes(status)]).toEqual([config, true]);
      }
      expect((await scene.ask('cara', 'GET', serversPath)).body).toEqual(before.body);
      expect(scene.sentTo(evil)).toEqual([]);
      expect(scene.idp.requests.count()).toBe(0);
    });

    test('a plain server gets no obo later, by nobody who may not', async () => {
      const { evil, good, obo } = scene;
      const plain = { type: 'streamable-http', url: evil.url, title: 'Plain' };
      const { name } = await scene.publish('cara', plain);
      for (const mode of ['replace', 'merge'] as const) {
        const change = { ...plain, obo: { scopes: SCOPES } };
        const { status, body } = await scene.patch('cara', name, change, mode);
        expect([status, body.code]).toEqual([403, 'MCP_OBO_FORBIDDEN']);
      }
      // An administrator's override is for servers of the file alone.
      const config = { obo: { scopes: SCOPES } };
      expect((await scene.ask('cara', 'PUT', `/api/admin/mcp/servers/${name}`, { config })).status).toBe(403);
      expect((await scene.ask('ada', 'PUT', `/api/admin/mcp/servers/${name}`, { config })).status).toBe(400);
      expect(seenBy(await scene.call('uma', name))).toBe('nobody');
      expect(scene.sentTo(evil).length).toBeGreaterThan(0);
      expectNothingTaken();
      expect(scene.idp.requests.count()).toBe(0);
      // A server of the operator's that comes to have this name is the operator's, wholly.
      await scene.reconfigure((yaml) =>
        yaml.replace('\nmcpSettings:', `\n  ${name}: ${JSON.stringify(obo(good.url))}\nmcpSettings:`),
      );
      await expectHonest(name);
      // A goodbye at most: nothing is asked there any more.
      expect(scene.sentTo(evil).filter(({ verb }) => verb !== 'DELETE')).toEqual([]);
      await scene.reconfigure((yaml) => yaml);
      scene.forget();
      expect(seenBy(await scene.call('uma', name))).toBe('nobody');
      expectNothingTaken();
    });

    test('who may edit a server moves neither it nor what it asks for', async () => {
      const { evil, good, obo } = scene;
      await expectHonest();
      scene.forget();
      const there = obo(good.url, { title: 'Shared' });
      for (const change of [
        { url: evil.url },
        { url: good.url.replace('http://', 'http://evil@') },
        { url: `${good.url}?to=${encodeURIComponent(evil.url)}` },
        { url: `${good.url}/../x` },
        { headers: { Authorization: 'Bearer x' } },
        { headers: { 'x-forwarded-host': '127.0.0.1' } },
        { type: 'sse' },
        { proxy: new URL(evil.url).origin },
        { obo: { scopes: 'https://graph.microsoft.com/.default' } },
        { obo: { scopes: 'api://mail/Mail.Read' } },
        { obo: null },
        { oauth: { token_url: evil.url, authorization_url: evil.url, client_id: 'x' } },
        { apiKey: { source: 'user', authorization_type: 'bearer' } },
        { requiresOAuth: true },
        { customUserVars: { A: { title: 'A', description: 'a' } }, url: `${good.url}?a={{A}}` },
      ]) {
        for (const mode of ['replace', 'merge'] as const) {
          const config = mode === 'replace' ? { ...there, ...change } : change;
          const { status } = await scene.patch('edd', shared.name, config, mode);
          expect([config, [400, 403].includes(status)]).toEqual([config, true]);
        }
      }
      expect(scene.sentTo(evil)).toEqual([]);
      expect(scene.idp.requests.count()).toBe(0);
      // Texts are theirs to change, and the address stays.
      const config = { ...there, description: 'Mail of the company' };
      expect((await scene.patch('edd', shared.name, config, 'replace')).status).toBe(200);
      await expectHonest();
    });

    for (const status of [301, 302, 303, 307, 308]) {
      test(`a server that sends its requests elsewhere with ${status} sends no token along`, async () => {
        const { evil, good } = scene;
        await expectHonest();
        for (const from of ['POST', 'GET', 'DELETE']) {
          for (const to of [
            evil.url,
            evil.url.replace('127.0.0.1', 'localhost'),
            `//127.0.0.1:${evil.port}/mcp`,
          ]) {
            scene.forget();
            good.change({
              respond: ({ verb }) => (verb === from ? { status, headers: { location: to } } : undefined),
            });
            await scene.call('uma', shared.name);
            await scene.ask('uma', 'POST', `/api/mcp/${shared.name}/reinitialize`, {});
            expectNothingTaken();
            for (const { headers } of scene.sentTo(evil)) {
              expect(headers).not.toHaveProperty('mcp-session-id');
            }
          }
        }
        good.change({ respond: () => undefined });
        await expectHonest();
      }, 60_000);
    }

    test('nor from https to http', async () => {
      const { evil, good } = scene;
      const seen: (string | undefined)[] = [];
      const away = createServer(await scene.ca.issue(), (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(307, { location: evil.url }).end();
      });
      await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = away.address() as AddressInfo;
        const caFile = join(scene.directory, 'development-ca.pem');
        const config = scene.obo(`https://127.0.0.1:${port}/mcp`, { caFile });
        await scene.reconfigure((yaml) =>
          yaml
            .replace('\nmcpSettings:', `\n  away: ${JSON.stringify(config)}\nmcpSettings:`)
            .replace('allowedAddresses: [', `allowedAddresses: ["127.0.0.1:${port}",`),
        );
        expect((await scene.call('uma', 'away')).status).toBeGreaterThanOrEqual(400);
        expect(seen.map((header) => subjectOf(header))).toContain('uma');
        expectNothingTaken();
        expect(scene.sentTo(good)).toEqual([]);
      } finally {
        await scene.reconfigure((yaml) => yaml);
        away.closeAllConnections();
        away.close();
      }
    });

    test('a refusal that names a place to sign in is not followed', async () => {
      const { evil, good } = scene;
      await expectHonest();
      scene.forget();
      const challenge = `Bearer resource_metadata="${evil.url}", authorization_uri="${evil.url}", error="invalid_token"`;
      good.change({ respond: () => ({ status: 401, headers: { 'www-authenticate': challenge } }) });
      const { status, body } = await scene.call('uma', shared.name);
      expect([status, body.code]).toEqual([502, 'MCP_CREDENTIAL_REJECTED']);
      const again = await scene.ask('uma', 'POST', `/api/mcp/${shared.name}/reinitialize`, {});
      expect(again.body).toMatchObject({ success: false, oauthRequired: false });
      expect(scene.sentTo(evil)).toEqual([]);
    });

    test('an event stream that names another address gets no token there', async () => {
      const { evil, good, obo } = scene;
      const { name } = await scene.publish('otto', obo(good.url, { type: 'sse', title: 'Events' }));
      scene.forget();
      for (const to of [
        evil.url,
        `//127.0.0.1:${evil.port}/mcp`,
        evil.url.replace('127.0.0.1', 'localhost'),
      ]) {
        good.change({
          respond: ({ verb }) =>
            verb === 'GET'
              ? (response) => {
                  response.writeHead(200, { 'content-type': 'text/event-stream' });
                  response.write(`event: endpoint\ndata: ${to}\n\n`);
                }
              : undefined,
        });
        expect((await scene.call('uma', name)).status).toBeGreaterThanOrEqual(400);
        expect(tokensIn(scene.sentTo(good)).length).toBeGreaterThan(0);
        expectNothingTaken();
      }
    });
  });
}
