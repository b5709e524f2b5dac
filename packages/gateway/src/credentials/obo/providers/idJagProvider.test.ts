import type { ProviderSettings } from '@behalf/settings';
import { verifies } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { aToken, type TokenEndpointReply } from '../../../../test/tokenEndpoint.ts';
import {
  aPlace,
  createTokenEndpointRig,
  exchange,
  faultOf,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const RESOURCE = 'https://files.example/mcp';

let rig: TokenEndpointRig;
let assertion: { header: Record<string, unknown>; claims: Record<string, unknown> };
let answer: Record<string, unknown>;
let second: TokenEndpointReply;
let given = 0;

beforeEach(async () => {
  rig = await createTokenEndpointRig();
  assertion = { header: {}, claims: {} };
  answer = {};
  second = aToken();
  rig.endpoint.reply = ({ path, form }) =>
    path === '/idp' ? { body: { ...first(form['audience']), ...answer } } : second;
});
afterEach(() => rig.close());

const issuer = (name: string) => `${rig.endpoint.origin}/${name}`;

function first(audience: string | undefined) {
  given += 1;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = { alg: 'ES256', typ: 'oauth-id-jag+jwt', ...assertion.header };
  const exp = rig.clock.now() / 1000 + 300;
  const claims = {
    ...{ iss: issuer('login'), sub: 'ada', aud: audience, client_id: 'us-there', resource: RESOURCE },
    ...{ exp, jti: `jti-${given}`, ...assertion.claims },
  };
  return {
    access_token: `${encode(header)}.${encode(claims)}.c2ln`,
    ...{ issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300 },
  };
}

function at(over: Partial<ProviderSettings> = {}, audience?: string) {
  const there = { clientId: 'us-there', clientSecret: 's-there' };
  const settings = {
    ...{ type: 'id-jag' as const, issuer: issuer('login'), tokenEndpoint: issuer('idp'), clientId: 'us' },
    clientSecret: 's-login',
    resourceServers: [{ ...there, issuer: issuer('as'), tokenEndpoint: issuer('as/token') }],
    ...over,
  };
  return rig.provider(settings, audience === undefined ? {} : { audience });
}
const two = (): Partial<ProviderSettings> => ({
  resourceServers: ['one', 'two'].map((name) => ({
    ...{ issuer: issuer(name), tokenEndpoint: issuer(`${name}/token`), clientId: 'us-there' },
    clientSecret: `s-${name}`,
  })),
});
const paths = () => rig.endpoint.requests.map(({ path }) => path);

describe('an exchange by an identity assertion', () => {
  verifies('id-jag.fields', 'both legs, byte for byte', async () => {
    const token = await exchange(at(), { scopes: ['b', 'a'], claims: '{}' });
    expect(token).toMatchObject({ token: 'exchanged-token', lifetimeMs: 3_599_000 });
    const [one, two] = rig.endpoint.requests;
    expect(one?.body).toBe(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange' +
        '&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid-jag' +
        '&subject_token=subject-token-of-ada&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid_token' +
        `&scope=b+a&audience=${encodeURIComponent(issuer('as'))}&resource=https%3A%2F%2Ffiles.example%2Fmcp&claims=%7B%7D`,
    );
    expect(two?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: expect.stringMatching(/^[\w-]+\.[\w-]+\.c2ln$/),
    });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    expect([one?.headers.authorization, two?.headers.authorization]).toEqual([
      basic('us:s-login'),
      basic('us-there:s-there'),
    ]);
    expect(paths()).toEqual(['/idp', '/as/token']);
  });

  verifies('id-jag.secret-stays', 'the ID token is in no request but the first', async () => {
    await exchange(at());
    second = { status: 500 };
    await faultOf(exchange(at()));
    const holding = rig.endpoint.requests.filter(({ body, headers }) =>
      (body + JSON.stringify(headers)).includes('subject-token-of-ada'),
    );
    expect(holding.map(({ path }) => path)).toEqual(['/idp', '/idp']);
  });

  verifies('id-jag.checked', 'one that is meant for anybody else goes nowhere', async () => {
    const wrong: Partial<typeof assertion>[] = [
      { header: { typ: 'JWT' } },
      { header: { typ: undefined } },
      { header: { alg: 'none' } },
      { claims: { aud: 'https://elsewhere.example' } },
      { claims: { aud: undefined } },
      { claims: { aud: [issuer('as'), 'https://elsewhere.example'] } },
      { claims: { client_id: 'somebody-else' } },
      { claims: { client_id: undefined } },
      { claims: { resource: 'https://other.example/mcp' } },
      { claims: { resource: [RESOURCE, 'https://other.example/mcp'] } },
      { claims: { resource: undefined } },
      { claims: { iss: 'https://other-idp.example' } },
      { claims: { exp: 1 } },
      { claims: { exp: undefined } },
      { claims: { sub: undefined } },
      { claims: { sub: '' } },
      { claims: { jti: undefined } },
      { claims: { jti: '' } },
    ];
    for (const over of wrong) {
      assertion = { header: {}, claims: {}, ...over };
      const fault = await faultOf(exchange(at()));
      expect([over, fault.code, fault.detail.hint]).toEqual([
        over,
        'OBO_EMPTY_RESPONSE',
        expect.stringContaining('not what was asked for'),
      ]);
    }
    expect(new Set(paths())).toEqual(new Set(['/idp']));
  });

  verifies('id-jag.not-bearer', 'what is no assertion is none', async () => {
    const others = [
      { token_type: 'Bearer' },
      { token_type: undefined },
      { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
      { issued_token_type: undefined },
      { access_token: 'opaque' },
      { access_token: '' },
      { access_token: `${'a'.repeat(40_000)}.b.c` },
    ];
    for (const over of others) {
      answer = over;
      expect(await faultOf(exchange(at()))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    }
    expect(new Set(paths())).toEqual(new Set(['/idp']));
    // And what the second leg gives has to be a bearer token.
    answer = {};
    second = aToken({ token_type: 'N_A' });
    expect(await faultOf(exchange(at()))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
  });

  verifies(
    'id-jag.single-use',
    'each exchange has one of its own, and one that came before is refused',
    async () => {
      const provider = at();
      await exchange(provider);
      await exchange(provider);
      const sent = rig.endpoint.requests.flatMap(({ form }) => form['assertion'] ?? []);
      expect(new Set(sent).size).toBe(2);
      assertion.claims = { jti: `jti-${given}` };
      expect(await faultOf(exchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
      expect(paths().filter((path) => path !== '/idp')).toHaveLength(2);
    },
  );

  verifies(
    'id-jag.faults',
    'what the resource’s authorization server says asks nothing of a sign-in',
    async () => {
      const faults: [TokenEndpointReply, string][] = [
        [{ status: 400, body: { error: 'invalid_grant' } }, 'OBO_REJECTED'],
        [
          { status: 400, body: { error: 'interaction_required', claims: '{"id_token":{"x":null}}' } },
          'OBO_REJECTED',
        ],
        [{ status: 401, body: { error: 'invalid_client' } }, 'OBO_MISCONFIGURED'],
        [{ status: 503 }, 'OBO_TEMPORARY'],
        ['close', 'OBO_TEMPORARY'],
      ];
      for (const [reply, code] of faults) {
        second = reply;
        const fault = await faultOf(exchange(at()));
        expect([reply, fault.code, fault.detail.claims]).toEqual([reply, code, undefined]);
        expect(fault.detail.hint).toContain('resource’s authorization server');
      }
    },
  );
});

describe('the authorization server of a resource', () => {
  verifies('id-jag.listed', 'is the one that the server names, of those that are listed', async () => {
    await exchange(at(two()), { place: aPlace(['https://attacker.example', issuer('two'), issuer('one')]) });
    expect(paths()).toEqual(['/idp', '/two/token']);
    for (const servers of [[], ['https://attacker.example'], [`${issuer('two')}/`]]) {
      const fault = await faultOf(exchange(at(two()), { place: aPlace(servers) }));
      expect(fault).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    expect(paths()).toHaveLength(2);
  });

  verifies(
    'id-jag.listed',
    'is the only one there is, or the one the definition names, and nobody asks',
    async () => {
      const place = { url: RESOURCE, authorizationServers: () => Promise.reject(new Error('asked')) };
      await exchange(at(), { place });
      await exchange(at(two(), issuer('two')), { place });
      expect(paths()).toEqual(['/idp', '/as/token', '/idp', '/two/token']);
      const unlisted = at(two(), 'https://attacker.example');
      expect(await faultOf(exchange(unlisted, { place }))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
      expect(paths()).toHaveLength(4);
    },
  );

  verifies('id-jag.key', 'is part of what names a token', () => {
    const [mine] = two().resourceServers ?? [];
    if (!mine) throw new Error('There are two');
    const identities = [
      at(),
      at(two()),
      at(two(), issuer('one')),
      at(two(), issuer('two')),
      at({ resourceServers: [mine] }),
      at({ resourceServers: [{ ...mine, clientId: 'other' }] }),
      at({ resourceServers: [{ ...mine, clientSecret: 'other' }] }),
      at({ resourceServers: [{ ...mine, clientAuth: 'post' }] }),
    ].map(({ identity }) => JSON.stringify([identity.endpoint, identity.credentialVersion]));
    // A list of one is the same as the one that is named.
    expect(new Set(identities).size).toBe(identities.length - 1);
    expect(at().identity.grant).toBe('id-jag');
  });
});
