import { createDevIdp, type DevIdp, type MintOptions } from '@behalf/devidp';
import { freePort } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { PUBLIC_URL } from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { readRecords } from './storeDump.ts';

const BASE = PUBLIC_URL;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SECRET = 'secret-of-the-agent';

describe('an identity provider that decides for its users', () => {
  let idp: DevIdp;
  let otherIdp: DevIdp;
  let partner: DevIdp;
  /** Two replicas on one store. */
  let replicas: InProcessGateway[];

  beforeAll(async () => {
    const users = [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }];
    const port = await freePort();
    const common = {
      isProduction: false,
      users,
      clients: [{ id: 'behalf', secret: 'x' }],
      audience: 'api://behalf',
    };
    idp = await createDevIdp({ ...common, port });
    otherIdp = await createDevIdp({ ...common, port: 0 });
    partner = await createDevIdp({ ...common, port: 0 });
    const variables = {
      PUBLIC_URL: BASE,
      OPENID_ISSUER: idp.issuer,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: 'not used here',
      CREDS_KEY: 'e'.repeat(64),
      AGENT_SECRET: SECRET,
    };
    const yaml = JSON.stringify({
      authorizationServer: {
        enabled: true,
        idJagIssuers: [idp.issuer, partner.issuer],
        idJagTenants: { [partner.issuer]: 'partners' },
        clients: {
          agent: { name: 'Agent', clientSecret: '${AGENT_SECRET}' },
          other: { name: 'Other', clientSecret: '${AGENT_SECRET}' },
        },
      },
    });
    const one = await startInProcess(variables, yaml);
    replicas = [one, await startInProcess({ ...variables, BEHALF_DATA_DIR: one.dataDir }, yaml)];
  }, 60_000);
  afterAll(async () => {
    for (const gateway of [...replicas].reverse()) await gateway.close();
    await idp.close();
    await otherIdp.close();
    await partner.close();
  });

  let last = 0;
  function assertion(overrides: MintOptions = {}, by: DevIdp = idp): string {
    last += 1;
    return by.tokens.mint({
      ...{ user: 'u-ada', lifetimeSeconds: 300, ...overrides },
      header: { typ: 'oauth-id-jag+jwt', ...overrides.header },
      claims: {
        ...{ aud: `${BASE}/as`, client_id: 'agent', resource: `${BASE}/mcp`, jti: `jag-${last}` },
        // That of its access tokens is none of ours.
        scope: undefined,
        ...overrides.claims,
      },
    });
  }

  async function ask(
    value: string,
    { client = 'agent', secret = SECRET, replica = 0, more = {} }: Partial<Asking> = {},
  ): Promise<{ status: number; body: { error?: string; access_token?: string; refresh_token?: string } }> {
    const response = await fetch(`${replicas[replica]!.url}/as/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: JWT_BEARER, assertion: value, ...more }),
    });
    return { status: response.status, body: (await response.json()) as { error?: string } };
  }
  interface Asking {
    client: string;
    secret: string;
    replica: number;
    more: Record<string, string>;
  }

  test('its word is a token for the endpoint that it names', async () => {
    const { status, body } = await ask(assertion());
    expect([status, body]).toEqual([200, expect.objectContaining({ token_type: 'Bearer', scope: 'mcp' })]);
    expect(body.refresh_token).toBeUndefined();
    const claims = decodeJwt(body.access_token ?? '');
    expect(claims).toMatchObject({ iss: `${BASE}/as`, aud: `${BASE}/mcp`, client_id: 'agent' });
    // The account is the one that a sign-in of the same person would have.
    const [account] = await readRecords(replicas[0]!, 'users');
    expect(account).toMatchObject({ id: claims.sub, issuer: idp.issuer, subject: 'u-ada' });
  });

  test('the word of another issuer counts in its own tenant', async () => {
    const { status, body } = await ask(assertion({ claims: { roles: ['ADMIN'] } }, partner));
    expect(status).toBe(200);
    const { sub } = decodeJwt(body.access_token ?? '');
    const accounts = await readRecords(replicas[0]!, 'users');
    expect(accounts.find(({ id }) => id === sub)).toMatchObject({
      ...{ tenant: 'partners', issuer: partner.issuer, subject: 'u-ada', role: 'USER' },
    });
  });

  test('clients are told beforehand that it is taken here', async () => {
    const { url } = replicas[0]!;
    const metadata = await fetch(`${url}/.well-known/oauth-authorization-server/as`);
    expect(await metadata.json()).toMatchObject({
      grant_types_supported: expect.arrayContaining([JWT_BEARER]) as object,
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    });
    const { body } = await ask(assertion());
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const discovered = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
        authorization: `Bearer ${body.access_token ?? ''}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } }),
    });
    expect(await discovered.json()).toMatchObject({
      result: {
        capabilities: { extensions: { 'io.modelcontextprotocol/enterprise-managed-authorization': {} } },
      },
    });
  });

  test('is good once, at whichever replica', async () => {
    const value = assertion();
    expect((await ask(value, { replica: 0 })).status).toBe(200);
    for (const replica of [0, 1]) {
      expect(await ask(value, { replica })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
    const raced = assertion();
    const answers = await Promise.all([0, 1, 0, 1, 0, 1].map((replica) => ask(raced, { replica })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const without = assertion({ claims: { jti: undefined } });
    expect((await ask(without)).status).toBe(400);
  });

  test('is refused for anything that does not fit', async () => {
    const unknown = { key: await idp.tokens.createUnknownKey() };
    const wrong: [string, string][] = [
      ['of another kind', assertion({ header: { typ: 'at+jwt' } })],
      ['of no kind', assertion({ header: { typ: undefined } })],
      ['for another server', assertion({ claims: { aud: 'https://elsewhere.example/as' } })],
      ['for our address', assertion({ claims: { aud: BASE } })],
      ['for another client', assertion({ claims: { client_id: 'other' } })],
      ['for no client', assertion({ claims: { client_id: undefined } })],
      ['for another endpoint', assertion({ claims: { resource: 'https://elsewhere.example/mcp' } })],
      ['for no endpoint', assertion({ claims: { resource: undefined } })],
      ['over', assertion({ lifetimeSeconds: -60 })],
      ['for a week', assertion({ lifetimeSeconds: 7 * 24 * 60 * 60 })],
      ['by an unknown key', assertion(unknown)],
      ['by a stranger', assertion({}, otherIdp)],
      ['no token', 'nonsense'],
    ];
    for (const [what, value] of wrong) {
      expect([what, await ask(value)]).toEqual([what, { status: 400, body: expect.anything() as object }]);
    }
    const response = await ask(assertion(), { more: { resource: `${BASE}/mcp/files` } });
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('is worth nothing to a client that proves nothing', async () => {
    expect((await ask(assertion(), { secret: 'guessed' })).status).toBe(401);
    const registered = await fetch(`${replicas[0]!.url}/as/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['https://open.example/cb'],
        grant_types: ['authorization_code', JWT_BEARER],
      }),
    });
    const { client_id: client } = (await registered.json()) as { client_id: string };
    const open = await fetch(`${replicas[0]!.url}/as/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: JWT_BEARER, client_id: client },
        assertion: assertion({ claims: { client_id: client } }),
      }),
    });
    expect([open.status, await open.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'unauthorized_client' }),
    ]);
    // The right one was not used up by whoever could not use it.
    const value = assertion();
    expect((await ask(value, { client: 'other' })).status).toBe(400);
    expect((await ask(value)).status).toBe(200);
  });
});
