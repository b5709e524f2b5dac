import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKeyClient, createLegacyClient, sendModern, type WireClient } from './mcpClient.ts';
import { startFaultRig, type FaultRig } from './oboFaultsRig.ts';
import { createUsers } from './users.ts';

const reads = [
  ['resources/read', { uri: 'x:1' }],
  ['prompts/get', { name: 'greet' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: '' } }],
] as const;
const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;

describe('whose token is meant by a 401 of the MCP endpoint', () => {
  let rig: FaultRig;
  beforeAll(async () => {
    rig = await startFaultRig('jwt-bearer');
  }, 60_000);
  beforeEach(() => rig.resetFaults());
  afterAll(() => rig.close());

  /** A key that is good, of somebody who has no sign-in that could be exchanged. */
  async function keyHolder(name: string): Promise<WireClient> {
    const [user] = await createUsers(rig, [name]);
    const made = await user!.post('/api/user/keys', { name: 'client', scopes: ['mcp', 'obo'] });
    const { key } = (await made.json()) as { key: string };
    return createKeyClient(key, rig.url, '/mcp/mail');
  }

  test('a key that is good is never answered with 401', async () => {
    const client = await keyHolder('Kay');
    const legacy = await createLegacyClient(client);
    const result = (await sendModern(client, 'tools/call', { name: 'whoami' })).message.result;
    expect(result).toMatchObject({ isError: true, _meta: { 'behalf/auth': { reason: 'absent' } } });
    for (const [method, params] of reads) {
      for (const { status, message } of [
        await sendModern(client, method, params),
        await legacy.request(method, params),
      ]) {
        expect([method, status, message.error?.code]).toEqual([method, 200, -31_424]);
        expect(message.error?.data).toMatchObject({
          code: 'MCP_AUTHORIZATION_REQUIRED',
          'behalf/auth': { code: 'needs_reauth', server: 'mail', reason: 'absent', retryable: false },
        });
        const { connectUrl } = message.error?.data?.['behalf/auth'] as { connectUrl: string };
        // Not at the server: the sign-in that is missing is the one here, and the page of the server offers it.
        const { pathname, searchParams } = new URL(connectUrl);
        expect([pathname, searchParams.get('signIn')]).toEqual(['/servers/mail', 'here']);
      }
    }
    expect(rig.mail.credentials.all()).toEqual([]);
  });

  test('lists go on without', async () => {
    const { id, token } = rig.createUser();
    rig.removeUser(id);
    for (const client of [await keyHolder('Lou'), createKeyClient(token, rig.url, '/mcp/mail')]) {
      const legacy = await createLegacyClient(client);
      for (const method of lists) {
        for (const { status, message } of [await sendModern(client, method), await legacy.request(method)]) {
          expect([method, status]).toEqual([method, 200]);
          expect(message.result?.['_meta']).toMatchObject({
            'behalf/servers': [{ server: 'mail', state: 'needs_authorization' }],
          });
        }
      }
    }
    expect(rig.mail.credentials.all()).toEqual([]);
  });

  test('a token that was brought and cannot be exchanged is', async () => {
    const { id, token } = rig.createUser();
    rig.removeUser(id);
    const client = createKeyClient(token, rig.url, '/mcp/mail');
    for (const [method, params] of [['tools/call', { name: 'whoami' }], ...reads] as const) {
      const { status } = await sendModern(client, method, params);
      expect([method, status]).toEqual([method, 401]);
    }
    const legacy = await createLegacyClient(client);
    for (const [method, params] of reads) {
      const answer = await legacy.post({ jsonrpc: '2.0', id: 1, method, params });
      expect([method, answer.status]).toEqual([method, 401]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    }
    expect(rig.mail.credentials.all()).toEqual([]);
  });
});
