import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  connectLibreChat,
  LIBRECHAT_CALLBACK,
  readLibreChatGuide,
  signInAtLibreChat,
  type LibreChatServer,
} from './libreChat.ts';
import { createVisitor, startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { createTokenCaller } from './tokenCaller.ts';

const guide = readLibreChatGuide();
const users = [
  { id: 'u-ada', email: 'ada@example.com', name: 'Ada' },
  { id: 'u-bob', email: 'bob@example.com', name: 'Bob' },
];
const [behalf] = Object.values(guide.mcpServers) as [LibreChatServer];

describe('behind LibreChat, as the guide says', () => {
  let shared: ScriptedHttpServer;
  let personal: ScriptedHttpServer;
  let gateway: OpenIdGateway;
  const libreChat = { id: guide.libreChat['OPENID_CLIENT_ID'] ?? '', secret: 'secret-of-librechat' };
  const otherClient = { id: 'another-app', secret: 'secret-of-another' };
  const scopes = (guide.libreChat['OPENID_SCOPE'] ?? '').split(' ');

  beforeAll(async () => {
    shared = await scriptedHttpServer({ era: 'modern', tools: [{ name: 'echo' }] });
    personal = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'mine' }] });
    const { OPENID_AUDIENCE, OPENID_ALLOWED_CLIENTS } = guide.behalf;
    gateway = await startOpenIdGateway({
      users: users,
      clients: [libreChat, otherClient].map((client) => ({ ...client, redirectUris: [LIBRECHAT_CALLBACK] })),
      scopes: scopes.filter((scope) => scope.startsWith('api://')),
      variables: {
        OPENID_AUDIENCE: OPENID_AUDIENCE ?? '',
        OPENID_ALLOWED_CLIENTS: OPENID_ALLOWED_CLIENTS ?? '',
      },
      yaml: renderYaml({
        shared: httpDefinition(shared.url),
        personal: httpDefinition(personal.url, { headers: { 'X-For': '{{LIBRECHAT_USER_ID}}' } }),
      }),
    });
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await personal.close();
    await shared.close();
  });

  const signIn = (user: string, client = libreChat) =>
    signInAtLibreChat(gateway.idp.issuer, { client, scope: scopes.join(' '), user });
  const connect = (token: string | null, server = behalf) =>
    connectLibreChat(server, { base: gateway.url, token });
  async function accountOf(token: string): Promise<string> {
    const response = await createTokenCaller(gateway.url, token).get('/api/user');
    return ((await response.json()) as { id: string }).id;
  }
  const refusals = () =>
    gateway.logged.flatMap(({ event, fields }) =>
      event === 'bearer_refused' ? [(fields as { reason: string }).reason] : [],
    );

  test('tools of shared servers and of servers of one’s own', async () => {
    for (const { id } of users) {
      const token = await signIn(id);
      expect(decodeJwt(token)).toMatchObject({ azp: 'librechat', aud: guide.behalf['OPENID_AUDIENCE'] });
      const client = await connect(token);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['shared__echo', 'personal__mine']));
      for (const name of ['shared__echo', 'personal__mine']) {
        expect(JSON.stringify(await client.callTool({ name, arguments: { by: id } }))).toContain(id);
      }
      await client.close();
      const { headers } = personal.received('tools/call').at(-1)!;
      expect(headers['x-for']).toBe(await accountOf(token));
      const recordedText = JSON.stringify([shared.requests, personal.requests]);
      expect([recordedText.includes(id), recordedText.includes(token)]).toEqual([true, false]);
    }
  });

  test('one server under its own names, in the place of all', async () => {
    const client = await connect(await signIn('u-ada'), { ...behalf, url: `${behalf.url}/personal` });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mine']);
    await client.close();
  });

  test('it is the user who signs in at the gateway with a browser', async () => {
    const visitor = createVisitor(gateway);
    await visitor.signIn('u-ada');
    expect((await visitor.readUser())?.id).toBe(await accountOf(await signIn('u-ada')));
  });

  test('who has no token of the provider is refused', async () => {
    await expect(connect(null)).rejects.toThrow();
    expect(refusals().at(-1)).toBe('malformed');
  });

  test('the user’s own token that another application got', async () => {
    const token = await signIn('u-ada', otherClient);
    expect(decodeJwt(token)).toMatchObject({ azp: otherClient.id, aud: guide.behalf['OPENID_AUDIENCE'] });
    const before = [shared, personal].map(({ requests }) => requests.length);
    await expect(connect(token)).rejects.toThrow();
    expect(refusals().at(-1)).toBe('client');
    expect([shared, personal].map(({ requests }) => requests.length)).toEqual(before);
  });
});
