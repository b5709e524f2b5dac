import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import {
  closeExchangeRigs,
  createExchangeRig,
  mail,
  wiki,
  type ExchangeRig,
} from '../../test/exchangeRig.ts';
import { adaUser, bobUser, serviceClient } from '../../test/idpRig.ts';

let rig: ExchangeRig;
beforeAll(async () => void (rig = await createExchangeRig()));
afterAll(closeExchangeRigs);

/** The number of an error that came as Entra sends one. */
async function codeOf(request: ReturnType<ExchangeRig['requestObo']>): Promise<unknown> {
  const { body } = await request;
  expect(body).not.toHaveProperty('access_token');
  const [code] = body.error_codes as number[];
  expect(body).toMatchObject({
    error: expect.any(String),
    error_description: expect.stringMatching(
      new RegExp(`^AADSTS${code}: .+ Trace ID: ${String(body.trace_id)} Correlation ID: .+ Timestamp: `),
    ),
    correlation_id: expect.any(String),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/),
  });
  return code;
}

describe('On-Behalf-Of at the tenant', () => {
  test('gives a token for the resource that speaks of the user', async () => {
    const { status, headers, body } = await rig.requestObo();
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, ext_expires_in: 3600 });
    expect(body.scope).toBe('api://mail/read api://mail/send');
    const claims = await rig.verifyToken(body.access_token, mail.audience, rig.entra.issuer);
    expect(claims).toMatchObject({
      ...{ sub: adaUser.id, oid: adaUser.id, name: adaUser.name, preferred_username: adaUser.email },
      ...{ scp: 'read send', azp: 'obo', tid: adaUser.tenant, ver: '2.0' },
    });
    expect(decodeProtectedHeader(body.access_token).typ).toBe('JWT');
  });

  test('gives what was asked for, of whom it was asked for', async () => {
    const assertion = rig.entra.tokens.mint({ user: bobUser.id });
    const { body } = await rig.requestObo({
      assertion,
      scope: 'openid profile offline_access api://wiki/edit',
    });
    expect(body).toMatchObject({ expires_in: 60, scope: 'api://wiki/edit' });
    const claims = await rig.verifyToken(body.access_token, wiki.id, rig.entra.issuer);
    expect(claims).toMatchObject({ sub: bobUser.id, scp: 'edit', tid: rig.entra.tenant });
    expect(claims.exp! - claims.iat!).toBe(60);
  });

  test('takes a token of either name of this provider, and its own', async () => {
    expect((await rig.requestObo({ assertion: rig.idp.tokens.mint() })).status).toBe(200);
    for (const aud of ['obo', 'api://obo', 'api://gateway']) {
      expect((await rig.requestObo({ assertion: rig.entra.tokens.mint({ claims: { aud } }) })).status).toBe(
        200,
      );
    }
  });

  test('refuses an assertion that does not hold', async () => {
    const {
      mint,
      mintIdToken,
      mintAppOnly,
      mintUnsigned,
      mintWithPublicKeyAsSecret,
      createUnknownKey: unknownKey,
    } = rig.entra.tokens;
    const key = await unknownKey();
    const [{ kid }] = rig.idp.getPublicKeys().keys as [{ kid: string }];
    const soon = Math.floor(Date.now() / 1000) + 600;
    const assertions: [string, number][] = [
      ['', 50013],
      ['a.b.c', 50013],
      [mint({ key }), 50013],
      [mint({ key, header: { kid } }), 50013],
      [mintUnsigned(), 50013],
      [mintWithPublicKeyAsSecret(), 50013],
      [mint({ claims: { iss: 'https://elsewhere.example' } }), 50013],
      [mint({ claims: { exp: undefined } }), 50013],
      [mint({ claims: { aud: 'api://mail' } }), 50013],
      [mint({ claims: { aud: serviceClient.id } }), 50013],
      [mint({ lifetimeSeconds: -1 }), 500133],
      [mint({ claims: { nbf: soon } }), 500133],
      [mintIdToken({ client: 'obo' }), 240002],
      [mintAppOnly(), 7000114],
      [mint({ subject: 'u-nobody' }), 50034],
    ];
    for (const [assertion, code] of assertions)
      expect(await codeOf(rig.requestObo({ assertion }))).toBe(code);
  });

  test('refuses a client that is not proven', async () => {
    const unproven: [Record<string, string | undefined>, number, number][] = [
      [{ client_secret: 'guessed' }, 7000215, 401],
      [{ client_secret: undefined }, 7000218, 401],
      [{ client_id: 'nobody' }, 700016, 400],
      [{ client_id: undefined }, 900144, 400],
      [{ client_id: 'robot' }, 7000215, 401],
    ];
    for (const [fields, code, status] of unproven) {
      expect(await codeOf(rig.requestObo(fields))).toBe(code);
      expect((await rig.requestObo(fields)).status).toBe(status);
    }
    // Another client, properly proven: the token was not issued for it.
    expect(await codeOf(rig.requestObo({ client_id: 'robot', client_secret: 'robot-secret' }))).toBe(50013);
  });

  test('refuses what is not one resource with consent', async () => {
    const targets: [string, number][] = [
      ['api://nothing/.default', 500011],
      ['read', 500011],
      ['api://mail/.default api://mail/read', 70011],
      ['api://mail/read api://wiki/edit', 28000],
      ['api://mail/delete', 650053],
      ['openid', 900144],
      ['api://wiki/.default', 65001],
    ];
    for (const [scope, code] of targets) expect(await codeOf(rig.requestObo({ scope }))).toBe(code);
    const { body } = await rig.requestObo({ scope: 'api://wiki/.default' });
    expect(body).toMatchObject({ error: 'invalid_grant', suberror: 'consent_required' });
  });

  test('is not another grant in disguise', async () => {
    expect(await codeOf(rig.requestObo({ requested_token_use: undefined }))).toBe(70003);
    expect(
      await codeOf(rig.requestObo({ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' })),
    ).toBe(70003);
  });

  test('wants proven what the request says must be', async () => {
    const claims = JSON.stringify({ access_token: { acrs: { essential: true, value: 'c1' } } });
    const { status, body } = await rig.requestObo({ claims });
    expect([status, body.error, body.error_codes, body.claims]).toEqual([
      ...[400, 'interaction_required', [50076], claims],
    ]);
    const assertion = rig.entra.tokens.mint({ claims: { acrs: ['c1'] } });
    const granted = await rig.requestObo({ claims, assertion });
    expect(await rig.verifyToken(granted.body.access_token, mail.audience, rig.entra.issuer)).toMatchObject({
      acrs: ['c1'],
    });
    const capability = JSON.stringify({ access_token: { xms_cc: { values: ['CP1'] } } });
    expect((await rig.requestObo({ claims: capability })).status).toBe(200);
  });
});
