import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MAIL_SCOPES, startAttackRig, extractTokens, type AttackRig } from './oboAttackersRig.ts';
import { subjectSeenByServer } from './oboCaller.ts';
import { OBO_AUDIENCE } from './oboRig.ts';

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
  `${MAIL_SCOPES} ${OBO_AUDIENCE}/access_as_user`,
  `openid ${OBO_AUDIENCE}/access_as_user offline_access`,
  `${MAIL_SCOPES} https://graph.microsoft.com/Mail.Read`,
];
/** Entra takes a scope without a resource for one of Graph. */
const bare: readonly string[] = ['Mail.Read', 'User.Read', '.default', 'openid', 'offline_access profile'];

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`somebody who may configure On-Behalf-Of (${exchangeMethod})`, () => {
    let rig: AttackRig;
    const scopes = exchangeMethod === 'entra-secret' ? [...guarded, ...bare] : guarded;
    beforeAll(async () => {
      rig = await startAttackRig(exchangeMethod);
      // So that what is counted below are exchanges alone.
      await rig.signIn('otto');
    }, 60_000);
    beforeEach(() => rig.forgetRequests());
    afterAll(() => rig.close());

    function expectNothing(): void {
      expect(rig.requestsTo(rig.evilServer)).toEqual([]);
      expect(rig.idp.requestLog.count()).toBe(0);
    }

    test('asks for no token of Graph, of Azure or of the login', async () => {
      const { evilServer, createOboDefinition } = rig;
      const mine = await rig.createServer('otto', createOboDefinition(evilServer.url, { title: 'Mine' }));
      for (const text of scopes) {
        const config = createOboDefinition(evilServer.url, { obo: { scopes: text } });
        const response = await rig.send('otto', 'POST', '/api/mcp/servers', { config });
        expect([text, response.status, response.body.errors?.[0]?.code]).toEqual([text, 400, 'obo_scope']);
        for (const mode of ['replace', 'merge'] as const) {
          const changed = await rig.patchServer('otto', mine.name, config, mode);
          expect([text, changed.status, changed.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        }
      }
      expectNothing();
    });

    test('an administrator’s override asks for none either', async () => {
      const { evilServer, createOboDefinition, mail } = rig;
      for (const text of scopes) {
        const own = { config: createOboDefinition(evilServer.url, { obo: { scopes: text } }) };
        const made = await rig.send('ada', 'PUT', '/api/admin/mcp/servers/extra', own);
        expect([text, made.status, made.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        // Of a server of the file as well, whether or not it is moved.
        for (const over of [{ obo: { scopes: text } }, { obo: { scopes: text }, url: evilServer.url }]) {
          const laid = await rig.send('ada', 'PUT', '/api/admin/mcp/servers/mail', { config: over });
          expect([text, laid.status, laid.body.code]).toEqual([text, 400, 'MCP_CONFIG_INVALID']);
        }
      }
      expectNothing();
      expect(mail.credentials.all()).toEqual([]);
    });

    test('a provider, an audience or a proxy is the operator’s to choose', async () => {
      const { evilServer, createOboDefinition } = rig;
      for (const more of [
        { obo: { scopes: MAIL_SCOPES, provider: 'login' } },
        { obo: { scopes: MAIL_SCOPES, grant: 'token-exchange' } },
        { obo: { scopes: MAIL_SCOPES, audience: OBO_AUDIENCE } },
        { obo: { scopes: MAIL_SCOPES, resource: 'https://graph.microsoft.com' } },
        { obo: { scopes: MAIL_SCOPES, tokenEndpoint: evilServer.url } },
        { obo: { scopes: MAIL_SCOPES }, proxy: new URL(evilServer.url).origin },
        { obo: { scopes: MAIL_SCOPES }, caFile: '/etc/ssl/cert.pem' },
        { url: `${evilServer.url}?u={{LIBRECHAT_USER_ID}}` },
        { url: `${evilServer.url}?u={{LIBRECHAT_OPENID_EMAIL}}` },
        { url: `${evilServer.url}?u={{LIBRECHAT_BODY_CONVERSATIONID}}` },
        { url: 'http://intranet.example/mcp' },
        { url: 'ws://127.0.0.1:9/mcp', type: 'websocket' },
        { type: 'stdio', command: 'cat' },
      ]) {
        const config = createOboDefinition(evilServer.url, more);
        const { status } = await rig.send('otto', 'POST', '/api/mcp/servers', { config });
        expect([config, status]).toEqual([config, 400]);
      }
      expectNothing();
    });

    test('with targets no other address gets a token, by any door', async () => {
      const { evilServer, goodServer, createOboDefinition } = rig;
      // They were stored before there were targets, and worked.
      const [there, here] = [
        await rig.createServer('otto', createOboDefinition(goodServer.url, { title: 'There' })),
        await rig.createServer('otto', createOboDefinition(evilServer.url, { title: 'Here' })),
      ];
      expect(subjectSeenByServer(await rig.callServer('uma', there.name))).toBe('uma');
      expect(subjectSeenByServer(await rig.callServer('uma', here.name))).toBe('uma');
      const origins = [new URL(goodServer.url).origin, rig.mail.origin];
      const listed = [MAIL_SCOPES, 'Mail.Read'];
      const target = `targets: [{ scopes: ${JSON.stringify(listed)}, origins: ${JSON.stringify(origins)} }]`;
      await rig.reconfigure((yaml) => yaml.replace('\n    caFile:', `\n    ${target}\n    caFile:`));
      rig.forgetRequests();
      expect(subjectSeenByServer(await rig.callServer('uma', there.name))).toBe('uma');
      const questions: [string, string, object?][] = [
        ['GET', `/api/mcp/servers/${here.name}/prompts`],
        ['POST', `/api/mcp/servers/${here.name}/tools/whoami/call`, { arguments: {} }],
        ['POST', `/api/mcp/servers/${here.name}/resources/read`, { uri: 'note:one' }],
      ];
      for (const [method, path, body] of questions) {
        const { status, body: responseBody } = await rig.send('uma', method, path, body);
        expect([path, status, responseBody.code]).toEqual([path, 403, 'MCP_OBO_FORBIDDEN']);
      }
      const again = await rig.send('uma', 'POST', `/api/mcp/${here.name}/reinitialize`, {});
      expect(again.body).toMatchObject({ success: false });
      for (const [user, method, path, config] of [
        ['otto', 'POST', '/api/mcp/servers', createOboDefinition(evilServer.url)],
        [
          'otto',
          'POST',
          '/api/mcp/servers',
          createOboDefinition(`${new URL(goodServer.url).origin}.example/mcp`),
        ],
        [
          'otto',
          'POST',
          '/api/mcp/servers',
          createOboDefinition(goodServer.url, { obo: { scopes: 'api://other/.default' } }),
        ],
        ['ada', 'PUT', '/api/admin/mcp/servers/mail', { url: evilServer.url }],
        ['ada', 'PUT', '/api/admin/mcp/servers/extra', createOboDefinition(evilServer.url)],
      ] as const) {
        const { status, body } = await rig.send(user, method, path, { config });
        expect([path, config, status, body.code]).toEqual([path, config, 400, 'MCP_CONFIG_INVALID']);
      }
      for (const mode of ['replace', 'merge'] as const) {
        const changed = await rig.patchServer(
          'otto',
          there.name,
          createOboDefinition(evilServer.url, { title: 'There' }),
          mode,
        );
        expect([changed.status, changed.body.errors?.[0]?.code]).toEqual([400, 'obo_target']);
      }
      expect(extractTokens(rig.requestsTo(evilServer))).toEqual([]);
      expect(rig.requestsTo(evilServer).filter(({ verb }) => verb !== 'DELETE')).toEqual([]);
      expect(subjectSeenByServer(await rig.callServer('vic', there.name))).toBe('vic');
    });
  });
}
