import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { base64url, exportSPKI, importJWK, SignJWT, UnsecuredJWT, type CryptoKey } from 'jose';
import { createOpenIdRig, GATEWAY_URL, type OpenIdRig } from '../../../test/openidRig.ts';
import type { OpenIdSettings } from './provider.ts';

const open: OpenIdRig[] = [];

async function createRig(overrides: Partial<OpenIdSettings> = {}, options = {}) {
  const rig = await createOpenIdRig(overrides, options);
  open.push(rig);
  const seconds = () => Math.floor(rig.clock.now() / 1_000);
  /** Refused like everything else, and for this reason in the log. */
  const refuses = async (token: string | Promise<string>, reason: string) => {
    rig.logged.length = 0;
    await expect(rig.verifier.verify(await token)).rejects.toMatchObject({
      code: 'AUTH_TOKEN_INVALID',
      message: 'The bearer token is not accepted',
      cause: undefined,
    });
    expect(rig.logged).toEqual([`bearer_refused ${reason}`]);
  };
  return { ...rig, seconds, refuses };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('bearer tokens', () => {
  test('an access token for this gateway is its user', async () => {
    const { verifier, token, issuer, clock } = await createRig();
    const claims = { email: 'ada@example.com', name: 'Ada', roles: ['editor'], email_verified: true };
    expect(await verifier.verify(await token(claims))).toEqual({
      kind: 'user',
      issuer: issuer.url,
      subject: 'ada',
      tenant: 'default',
      email: 'ada@example.com',
      name: 'Ada',
      roles: ['editor'],
      groups: [],
      hasAdminRole: false,
      isAdmitted: true,
      issuedAt: clock.now(),
      expiresAt: clock.now() + 300_000,
      clientId: 'app',
      endpoints: null,
      scopes: ['mcp'],
    });
  });

  test('of every kind of key pair the list names', async () => {
    for (const alg of ['RS256', 'PS384', 'ES512', 'EdDSA']) {
      const { verifier, token } = await createRig({}, { alg });
      expect(await verifier.verify(await token())).toMatchObject({ subject: 'ada' });
    }
  });

  test('a token for somebody else is refused', async () => {
    const { refuses, token, verifier } = await createRig();
    await refuses(token({ aud: 'https://graph.example' }), 'audience');
    await refuses(token({ aud: undefined }), 'audience');
    await refuses(token({ aud: ['other', 'gateway2'] }), 'audience');
    for (const aud of ['gateway', 'api://gateway', ['other', 'gateway']]) {
      expect(await verifier.verify(await token({ aud }))).toMatchObject({ subject: 'ada' });
    }
  });

  test('where an audience is named, the client’s id is none', async () => {
    const { refuses, token, verifier } = await createRig({ audience: 'https://gateway.example' });
    await refuses(token({ aud: 'gateway' }), 'audience');
    await refuses(token({ aud: 'api://gateway' }), 'audience');
    expect(await verifier.verify(await token({ aud: 'https://gateway.example' }))).toBeDefined();
  });

  test('a token for an endpoint says for which', async () => {
    const { token, verifier } = await createRig();
    const endpoints = async (aud: unknown) => (await verifier.verify(await token({ aud }))).endpoints;
    expect(await endpoints(`${GATEWAY_URL}/mcp`)).toEqual([`${GATEWAY_URL}/mcp`]);
    expect(await endpoints(['other', `${GATEWAY_URL}/mcp/files`])).toEqual([`${GATEWAY_URL}/mcp/files`]);
    expect(await endpoints([`${GATEWAY_URL}/mcp`, 'gateway'])).toBeNull();
  });

  test('another issuer’s token is refused, however like ours', async () => {
    const { refuses, token, issuer } = await createRig();
    await refuses(token({ iss: `${issuer.url}/` }), 'issuer');
    await refuses(token({ iss: 'https://evil.example' }), 'issuer');
    await refuses(token({ iss: undefined }), 'issuer');
  });

  test('a token without a signature is refused', async () => {
    const { refuses, issuer, seconds } = await createRig();
    const claims = { iss: issuer.url, aud: 'gateway', sub: 'ada', scope: 'mcp', exp: seconds() + 300 };
    await refuses(new UnsecuredJWT(claims).encode(), 'algorithm');
    const header = base64url.encode(JSON.stringify({ alg: 'None', kid: 'k1' }));
    await refuses(`${header}.${base64url.encode(JSON.stringify(claims))}.`, 'algorithm');
    expect(issuer.requestCounts).toEqual({});
  });

  test('the public key is no secret to sign with', async () => {
    const { refuses, issuer, seconds } = await createRig({}, { alg: 'RS256' });
    const jwk = await issuer.jwk('k1');
    const pem = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey);
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), jwk.n!]) {
      const forged = new SignJWT({ iss: issuer.url, aud: 'gateway', sub: 'ada', scope: 'mcp' })
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .setExpirationTime(seconds() + 300)
        .sign(new TextEncoder().encode(secret));
      await refuses(forged, 'algorithm');
    }
  });

  test('a changed token is refused', async () => {
    const { refuses, token } = await createRig();
    const [header, , signature] = (await token()).split('.');
    const [, other] = (await token({ sub: 'eve' })).split('.');
    await refuses([header, other, signature].join('.'), 'signature');
    await refuses([header, other, ''].join('.'), 'signature');
  });

  test('what is no token is refused before the provider is asked', async () => {
    const { refuses, issuer, token } = await createRig();
    for (const text of ['', 'x', 'a.b.c', 'a.b', '{}', '....']) await refuses(text, 'malformed');
    const long = await token({ filler: 'x'.repeat(16 * 1024) });
    await refuses(long, 'too_large');
    expect(issuer.requestCounts).toEqual({});
  });

  test('an extension that must be understood is not', async () => {
    const { refuses, token } = await createRig();
    await refuses(token({}, { crit: ['b64'], b64: true }), 'critical_header');
  });

  test('a token ends, with half a minute for wrong clocks', async () => {
    const { refuses, token, seconds, verifier, clock } = await createRig();
    await refuses(token({ exp: seconds() - 31 }), 'expired');
    await refuses(token({ exp: undefined }), 'expired');
    const held = await token({ exp: seconds() + 60 });
    await verifier.verify(held);
    await clock.advance(89_000);
    expect(await verifier.verify(held)).toMatchObject({ subject: 'ada' });
    await clock.advance(2_000);
    await refuses(held, 'expired');
  });

  test('a token of the future is refused', async () => {
    const { refuses, token, seconds, verifier } = await createRig();
    await refuses(token({ nbf: seconds() + 60 }), 'not_yet_valid');
    await refuses(token({ iat: seconds() + 60 }), 'issued_in_future');
    const soon = { nbf: seconds() + 20, iat: seconds() + 20 };
    expect(await verifier.verify(await token(soon))).toMatchObject({ subject: 'ada' });
  });

  test('a key that the issuer does not publish proves nothing', async () => {
    const { refuses, token, issuer, clock } = await createRig();
    await refuses(token({}, { kid: 'stranger' }), 'unknown_key');
    const requestCount = issuer.requestCounts['/jwks'];
    for (let i = 0; i < 20; i += 1) await refuses(token({}, { kid: `stranger${i}` }), 'unknown_key');
    expect(issuer.requestCounts['/jwks']).toBe(requestCount);
    await clock.advance(5_000);
    await refuses(token({}, { kid: 'stranger' }), 'unknown_key');
    expect(issuer.requestCounts['/jwks']).toBe(requestCount! + 1);
  });

  test('a key that the token itself brings is nobody’s', async () => {
    const { refuses, issuer, token } = await createRig();
    const jwk = await issuer.jwk('eve');
    await refuses(token({}, { kid: 'eve', jwk, jku: 'http://evil.example/jwks' }), 'unknown_key');
  });

  test('an ID token opens no door', async () => {
    const { refuses, token } = await createRig();
    await refuses(token({ scope: undefined }), 'not_access_token');
    await refuses(token({ scope: '' }), 'not_access_token');
    await refuses(token({ nonce: 'n' }), 'id_token');
    await refuses(token({ at_hash: 'h' }), 'id_token');
    await refuses(token({ nonce: 'n' }, { typ: 'at+jwt' }), 'id_token');
    await refuses(token({ at_hash: 'h' }, { typ: 'at+jwt' }), 'id_token');
    await refuses(token({}, { typ: 'logout+jwt' }), 'type');
  });

  test('by its type or by its scope it is an access token', async () => {
    const { verifier, token } = await createRig();
    const accepted = [
      token({ scope: undefined }, { typ: 'at+jwt' }),
      token({ scope: undefined }, { typ: 'application/AT+JWT' }),
      token({ scope: undefined, scp: 'access_as_user' }),
      token({ scope: undefined, scp: ['a', 'b'] }),
      token({}, { typ: undefined }),
    ];
    for (const each of accepted) expect(await verifier.verify(await each)).toMatchObject({ kind: 'user' });
  });

  test('a token bound to its client’s key is not enough alone', async () => {
    const { refuses, token } = await createRig();
    const jkt = createHash('sha256').update('key').digest('base64url');
    await refuses(token({ cnf: { jkt } }, { typ: 'at+jwt' }), 'key_bound');
  });

  test('a token of nobody is refused', async () => {
    const { refuses, token } = await createRig();
    for (const sub of [undefined, '', 'x'.repeat(256)]) await refuses(token({ sub }), 'subject');
  });

  test('a program’s token is a service, never a user', async () => {
    const { verifier, token } = await createRig({
      adminRole: { values: ['boss'], claim: 'roles', from: 'access' },
    });
    const entra = { scope: undefined, oid: 'o1', sub: 'o1', roles: ['boss'], appid: 'app' };
    const services = [
      token(entra),
      token({ scope: undefined, idtyp: 'app' }),
      token({ sub: 'app' }, { typ: 'at+jwt' }),
      token({ sub: 'app', scope: 'mcp' }),
      token({ sub: 'c1', azp: undefined, client_id: 'c1' }, { typ: 'at+jwt' }),
      token({ sub: 'app@clients', gty: 'client-credentials' }),
      token({ sub: 'x', client_id: 'app', preferred_username: 'service-account-app' }),
    ];
    for (const each of services) {
      expect(await verifier.verify(await each)).toMatchObject({ kind: 'service', hasAdminRole: false });
    }
    const users = [
      token({ oid: 'o1', sub: 'o1', roles: ['boss'] }),
      token({ preferred_username: 'service-account-app' }),
      token({ preferred_username: 'service-account-undefined' }),
      token({ client_id: ['app'], preferred_username: 'service-account-app' }),
      token({ idtyp: 'user', sub: 'app' }),
    ];
    for (const each of users) expect(await verifier.verify(await each)).toMatchObject({ kind: 'user' });
  });

  test('a user who is named like a program stays a user', async () => {
    const { verifier, token } = await createRig();
    const named = { sub: 'eve', client_id: 'app', preferred_username: 'service-account-app' };
    for (const known of [
      { email: 'eve@example.com' },
      { name: 'Eve' },
      { given_name: 'Eve' },
      { family_name: 'E' },
      { auth_time: 1 },
    ]) {
      expect(await verifier.verify(await token({ ...named, ...known }))).toMatchObject({ kind: 'user' });
    }
  });

  test('an ID token cannot pass as a program’s', async () => {
    const { refuses, token } = await createRig();
    const like = { scope: undefined, oid: 'o1', sub: 'o1', roles: ['editor'] };
    await refuses(token({ ...like, email: 'ada@example.com' }), 'not_access_token');
    await refuses(token({ ...like, preferred_username: 'ada' }), 'not_access_token');
    await refuses(token({ ...like, azp: undefined }), 'not_access_token');
    await refuses(token({ ...like, nonce: 'n' }), 'id_token');
  });

  test('only the tenants on the list come in', async () => {
    const { refuses, token, verifier } = await createRig({ allowedTenants: ['t1'] });
    await refuses(token({ tid: 't2' }), 'tenant');
    await refuses(token(), 'tenant');
    await refuses(token({ tid: ['t1'] }), 'tenant');
    expect(await verifier.verify(await token({ tid: 't1' }))).toMatchObject({ tenant: 'default' });
  });

  test('only tokens of the clients on the list come in', async () => {
    const { refuses, token, verifier } = await createRig({ allowedClients: ['app', 'cli'] });
    await refuses(token({ azp: 'other' }), 'client');
    await refuses(token({ azp: undefined }), 'client');
    await refuses(token({ azp: 'other', client_id: 'app' }), 'client');
    for (const claims of [{}, { azp: undefined, appid: 'cli' }, { azp: undefined, client_id: 'cli' }]) {
      expect(await verifier.verify(await token(claims))).toMatchObject({ subject: 'ada' });
    }
  });

  test('the tenant is what its claim says, and nobody is without one', async () => {
    const { refuses, token, verifier } = await createRig({ tenantClaim: 'org.id' });
    expect(await verifier.verify(await token({ org: { id: 'acme' } }))).toMatchObject({ tenant: 'acme' });
    for (const org of [undefined, {}, { id: '' }, { id: '-' }, { id: 7 }, { id: 'a\nb' }]) {
      await refuses(token({ org }), 'tenant');
    }
    // Where local accounts and the operator are.
    await refuses(token({ org: { id: 'default' } }), 'tenant');
  });
});

describe('what claims say', () => {
  test('a claim is found by its whole name, then by its path', async () => {
    const url = 'https://example.com/roles';
    const literal = await createRig({ roleClaim: url });
    expect(await literal.verifier.verify(await literal.token({ [url]: ['a'] }))).toMatchObject({
      roles: ['a'],
    });
    const path = await createRig({ roleClaim: 'realm_access.roles', groupsClaim: 'groups' });
    const found = (claims: object) => path.token({ ...claims }).then((token) => path.verifier.verify(token));
    expect(await found({ realm_access: { roles: ['b'] }, groups: 'g' })).toMatchObject({
      roles: ['b'],
      groups: ['g'],
    });
    expect(await found({ 'realm_access.roles': 'c', realm_access: { roles: ['b'] } })).toMatchObject({
      roles: ['c'],
    });
    expect((await found({})).roles).toEqual([]);
    const inherited = await createRig({ roleClaim: '__proto__.constructor' });
    expect((await inherited.verifier.verify(await inherited.token())).roles).toEqual([]);
    expect(inherited.logged).toEqual([]);
  });

  test('a list that is not whole counts for nothing', async () => {
    const { verifier, token, logged } = await createRig({ groupsClaim: 'groups' });
    const groups = ['g1'];
    const many = Array.from({ length: 201 }, (_, i) => `g${i}`);
    for (const claims of [
      { groups, _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } },
      { groups, hasgroups: true },
      { groups: many },
      { groups: ['g1', 'x'.repeat(257)] },
      { groups: ['g1', 7] },
    ]) {
      logged.length = 0;
      expect((await verifier.verify(await token(claims))).groups).toEqual([]);
      expect(logged).toEqual(['openid_claim_overage groups']);
    }
    expect((await verifier.verify(await token({ groups: many.slice(1) }))).groups).toHaveLength(200);
  });

  test('an email that the provider doubts, or that is none, is left out', async () => {
    const { verifier, token } = await createRig();
    const emailOf = async (claims: object) => (await verifier.verify(await token({ ...claims }))).email;
    for (const verified of [false, 'false', null, 0, 1, 'yes']) {
      expect(await emailOf({ email: 'eve@example.com', email_verified: verified })).toBe('');
    }
    for (const verified of [undefined, true, 'true']) {
      const email = 'ada@example.com';
      expect(await emailOf({ email, email_verified: verified })).toBe(email);
    }
    expect(await emailOf({ email: 'a@b\r\nX-Header: 1' })).toBe('');
    expect(await emailOf({ email: 'nobody' })).toBe('');
    expect(await emailOf({ preferred_username: 'boss@example.com', upn: 'boss@example.com' })).toBe('');
  });
});
