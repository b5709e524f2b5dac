import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SCOPES, startAttackScene, tokensIn, type AttackScene } from './oboAttackersScene.ts';
import { seenBy } from './oboCaller.ts';
import { OBO_AUDIENCE } from './oboScene.ts';

const GRAPH_ID = '00000003-0000-0000-c000-000000000000';

/** Worth more than any one server, and ways to write it so that nobody notices. */
const guarded: readonly string[] = [
  'https://graph.microsoft.com/.default',
  'https://graph.microsoft.com//.default',
  'https://GRAPH.Microsoft.COM/Mail.Read',
  'https://graph.microsoft.com:443/Mail.Read',
  'https://graph.microsoft.com./Mail.Read',
  'https://graph.microsoft.us/.default',
  'https://graph.windows.net/.default',
  'https://graph%2Emicrosoft%2Ecom/.default',
  'https://graph%252Emicrosoft%252Ecom/.default',
  'HTTPS://x@graph.microsoft.com/.default',
  'https://x.example/https://graph.microsoft.com/.default',
  `${GRAPH_ID}/.default`,
  `${GRAPH_ID.replaceAll('-', '')}/.default`,
  `api://${GRAPH_ID}/Mail.Read`,
  `{${GRAPH_ID}}/.default`,
  'https://management.azure.com/.default',
  'https://management.core.windows.net//.default',
  'https://management.azure.com/user_impersonation',
  '797f4846-ba00-4fd7-ba43-dac1f8f63013/.default',
  `${OBO_AUDIENCE}/.default`,
  `${OBO_AUDIENCE}/access_as_user`,
  `${OBO_AUDIENCE.toUpperCase()}/access_as_user`,
  'behalf/.default',
  `${SCOPES} ${OBO_AUDIENCE}/access_as_user`,
  `openid ${OBO_AUDIENCE}/access_as_user offline_access`,
  `${SCOPES} https://graph.microsoft.com/Mail.Read`,
];
/** Entra takes a scope without a resource for one of Graph. */
const bare: readonly string[] = ['Mail.Read', 'User.Read', '.default', 'openid', 'offline_access profile'];

for (const way of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`somebody who may configure On-Behalf-Of (${way})`, () => {
    let scene: AttackScene;
    const scopes = way === 'entra-secret' ? [...guarded, ...bare] : guarded;
    beforeAll(async () => {
      scene = await startAttackScene(way);
      // So that what is counted below are exchanges alone.
      await scene.signIn('otto');
    }, 60_000);
    beforeEach(() => scene.forget());
    afterAll(() => scene.close());

    function expectNothing(): void {
      expect(scene.sentTo(scene.evil)).toEqual([]);
      expect(scene.idp.requests.count()).toBe(0);
    }

    test('asks for no token of Graph, of Azure or of the login', async () => {
      const { evil, obo } = scene;
      const mine = await scene.publish('otto', obo(evil.url, { title: 'Mine' }));
      for (const text of scopes) {
        const config = obo(evil.url, { obo: { scopes: text } });
        const told = await scene.ask('otto', 'POST', '/api/mcp/servers', { config });
        expect([text, told.status, told.body.errors?.[0]?.code]).toEqual([text, 400, 'obo_scope']);
        for (const mode of ['replace', 'merge'] as const) {
          const changed = await scene.patch('otto', mine.name, config, mode);
          expect([text, changed.status, changed.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        }
      }
      expectNothing();
    });

    test('an administrator’s override asks for none either', async () => {
      const { evil, obo, mail } = scene;
      for (const text of scopes) {
        const own = { config: obo(evil.url, { obo: { scopes: text } }) };
        const made = await scene.ask('ada', 'PUT', '/api/admin/mcp/servers/extra', own);
        expect([text, made.status, made.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        // Of a server of the file as well, whether or not it is moved.
        for (const over of [{ obo: { scopes: text } }, { obo: { scopes: text }, url: evil.url }]) {
          const laid = await scene.ask('ada', 'PUT', '/api/admin/mcp/servers/mail', { config: over });
          expect([text, laid.status, laid.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        }
      }
      expectNothing();
      expect(mail.credentials.all()).toEqual([]);
    });

    test('a provider, an audience or a proxy is the operator’s to choose', async () => {
      const { evil, obo } = scene;
      for (const more of [
        { obo: { scopes: SCOPES, provider: 'login' } },
        { obo: { scopes: SCOPES, grant: 'token-exchange' } },
        { obo: { scopes: SCOPES, audience: OBO_AUDIENCE } },
        { obo: { scopes: SCOPES, resource: 'https://graph.microsoft.com' } },
        { obo: { scopes: SCOPES, tokenEndpoint: evil.url } },
        { obo: { scopes: SCOPES }, proxy: new URL(evil.url).origin },
        { obo: { scopes: SCOPES }, caFile: '/etc/ssl/cert.pem' },
        { url: `${evil.url}?u={{LIBRECHAT_USER_ID}}` },
        { url: `${evil.url}?u={{LIBRECHAT_OPENID_EMAIL}}` },
        { url: `${evil.url}?u={{LIBRECHAT_BODY_CONVERSATIONID}}` },
        { url: 'http://intranet.example/mcp' },
        { url: 'ws://127.0.0.1:9/mcp', type: 'websocket' },
        { type: 'stdio', command: 'cat' },
      ]) {
        const config = obo(evil.url, more);
        const { status } = await scene.ask('otto', 'POST', '/api/mcp/servers', { config });
        expect([config, status]).toEqual([config, 400]);
      }
      expectNothing();
    });

    test('with targets no other address gets a token, by any door', async () => {
      const { evil, good, obo } = scene;
      // They were stored before there were targets, and worked.
      const [there, here] = [
        await scene.publish('otto', obo(good.url, { title: 'There' })),
        await scene.publish('otto', obo(evil.url, { title: 'Here' })),
      ];
      expect(seenBy(await scene.call('uma', there.name))).toBe('uma');
      expect(seenBy(await scene.call('uma', here.name))).toBe('uma');
      const origins = [new URL(good.url).origin, scene.mail.origin];
      const listed = [SCOPES, 'Mail.Read'];
      const target = `targets: [{ scopes: ${JSON.stringify(listed)}, origins: ${JSON.stringify(origins)} }]`;
      await scene.reconfigure((yaml) => yaml.replace('\n    caFile:', `\n    ${target}\n    caFile:`));
      scene.forget();
      expect(seenBy(await scene.call('uma', there.name))).toBe('uma');
      const questions: [string, string, object?][] = [
        ['GET', `/api/mcp/servers/${here.name}/prompts`],
        ['POST', `/api/mcp/servers/${here.name}/tools/whoami/call`, { arguments: {} }],
        ['POST', `/api/mcp/servers/${here.name}/resources/read`, { uri: 'note:one' }],
      ];
      for (const [method, path, body] of questions) {
        const { status, body: told } = await scene.ask('uma', method, path, body);
        expect([path, status, told.code]).toEqual([path, 403, 'MCP_OBO_FORBIDDEN']);
      }
      const again = await scene.ask('uma', 'POST', `/api/mcp/${here.name}/reinitialize`, {});
      expect(again.body).toMatchObject({ success: false });
      for (const [user, method, path, config] of [
        ['otto', 'POST', '/api/mcp/servers', obo(evil.url)],
        ['otto', 'POST', '/api/mcp/servers', obo(`${new URL(good.url).origin}.example/mcp`)],
        ['otto', 'POST', '/api/mcp/servers', obo(good.url, { obo: { scopes: 'api://other/.default' } })],
        ['ada', 'PUT', '/api/admin/mcp/servers/mail', { url: evil.url }],
        ['ada', 'PUT', '/api/admin/mcp/servers/extra', obo(evil.url)],
      ] as const) {
        const { status, body } = await scene.ask(user, method, path, { config });
        expect([path, config, status, body.code]).toEqual([path, config, 400, 'MCP_CONFIG_INVALID']);
      }
      for (const mode of ['replace', 'merge'] as const) {
        const changed = await scene.patch('otto', there.name, obo(evil.url, { title: 'There' }), mode);
        expect([changed.status, changed.body.errors?.[0]?.code]).toEqual([400, 'obo_target']);
      }
      expect(tokensIn(scene.sentTo(evil))).toEqual([]);
      expect(scene.sentTo(evil).filter(({ verb }) => verb !== 'DELETE')).toEqual([]);
      expect(seenBy(await scene.call('vic', there.name))).toBe('vic');
    });
  });
}
