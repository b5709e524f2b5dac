import { createPublicKey } from 'node:crypto';
import { createFakeClock } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  adaUser,
  gatewayAudience,
  bobUser,
  closeIdps,
  createIdpRig,
  serviceClient,
  webClient,
} from '../test/idpRig.ts';
import { createScriptedBrowser } from './scriptedBrowser.ts';

let rig: Awaited<ReturnType<typeof createIdpRig>>;
beforeAll(async () => void (rig = await createIdpRig()));
afterAll(closeIdps);

describe('the tokens of a login', () => {
  test('the access token is a JWT for the audience, with the user’s claims', async () => {
    const { tokens } = await rig.signIn(adaUser.id);
    const { protectedHeader, payload } = await rig.verify(tokens.access_token);
    const { keys } = await rig.jwks();
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: keys[0]!.kid });
    expect(payload).toEqual({
      iss: rig.idp.issuer,
      sub: adaUser.id,
      aud: gatewayAudience,
      azp: webClient.id,
      client_id: webClient.id,
      scope: 'access_as_user',
      roles: adaUser.roles,
      groups: adaUser.groups,
      tid: adaUser.tenant,
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: payload.iat! + 3600,
    });
  });

  test('a claim that nobody configured is absent', async () => {
    const { tokens } = await rig.signIn(bobUser.id);
    const { payload } = await rig.verify(tokens.access_token);
    expect(payload).toMatchObject({ sub: bobUser.id });
    for (const claim of ['roles', 'groups', 'tid']) expect(payload).not.toHaveProperty(claim);
  });

  test('the ID token is for the client and says who it is', async () => {
    const { tokens } = await rig.signIn(adaUser.id);
    const { iat, exp, nonce, ...claims } = tokens.claims()!;
    expect([iat, exp, nonce]).not.toContain(undefined);
    expect(claims).toEqual({
      iss: rig.idp.issuer,
      sub: adaUser.id,
      aud: webClient.id,
      email: adaUser.email,
      email_verified: true,
      name: adaUser.name,
      preferred_username: adaUser.email,
      roles: adaUser.roles,
      groups: adaUser.groups,
      tid: adaUser.tenant,
    });
  });

  test('carry the scopes of the API that were asked for', async () => {
    const { signIn } = await createIdpRig({ scopes: ['read', 'write'], accessTokenLifetimeSeconds: 60 });
    const scopeOf = async (scope: string) => decodeJwt((await signIn(adaUser.id, scope)).tokens.access_token);
    expect(await scopeOf('openid read unknown')).toMatchObject({ scope: 'read' });
    const all = await scopeOf('openid');
    expect(all).toMatchObject({ scope: 'read write', exp: all.iat! + 60 });
  });

  test('are for no other resource', async () => {
    const { url } = await rig.beginSignIn();
    url.searchParams.set('resource', 'api://other');
    const { externalRedirect: leavesTo } = await createScriptedBrowser().open(url);
    expect(leavesTo!.searchParams.get('error')).toBe('invalid_target');
  });

  test('an audience may be any text', async () => {
    const { signIn } = await createIdpRig({ audience: 'the gateway' });
    expect(decodeJwt((await signIn(adaUser.id)).tokens.access_token).aud).toBe('the gateway');
  });
});

describe('a minted token', () => {
  test('is what a login gives', async () => {
    const minted = await rig.verify(rig.idp.tokens.mint());
    const { access_token: token } = (await rig.signIn(adaUser.id)).tokens;
    const { protectedHeader, payload } = await rig.verify(token);
    expect(minted.protectedHeader).toEqual(protectedHeader);
    const changing = { jti: expect.any(String), iat: expect.any(Number), exp: expect.any(Number) };
    expect(minted.payload).toEqual({ ...payload, ...changing });
  });

  test('is of whom and says what the test wants', async () => {
    const { mint, mintIdToken } = rig.idp.tokens;
    expect(decodeJwt(mint({ user: bobUser.id, client: serviceClient.id }))).toMatchObject({
      sub: bobUser.id,
      azp: serviceClient.id,
    });
    const { payload } = await rig.verify(
      mint({ subject: 'u-eve', claims: { tid: 'other', scope: undefined, scp: 'a b' } }),
    );
    expect(payload).toMatchObject({ sub: 'u-eve', tid: 'other', scp: 'a b' });
    expect(payload).not.toHaveProperty('scope');
    expect(decodeProtectedHeader(mint({ header: { typ: 'JWT', kid: undefined } }))).toEqual({
      alg: 'RS256',
      typ: 'JWT',
    });
    expect(decodeJwt(mintIdToken())).toMatchObject({
      aud: webClient.id,
      email: adaUser.email,
      nonce: expect.any(String),
      at_hash: expect.any(String),
    });
    expect(() => mint({ user: 'u-nobody' })).toThrow('no user');
    expect(() => mint({ client: 'nothing' })).toThrow('no client');
  });

  test('can be wrong in one way at a time', async () => {
    const {
      mint,
      mintIdToken,
      mintUnsigned,
      mintWithPublicKeyAsSecret,
      createUnknownKey: unknownKey,
    } = rig.idp.tokens;
    const soon = Math.floor(Date.now() / 1000) + 600;
    const key = await unknownKey();
    const { kid } = (await rig.jwks()).keys[0]!;
    const wrong: [string, string][] = [
      [mint({ claims: { aud: 'api://other' } }), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
      [mint({ claims: { iss: 'http://127.0.0.1:1' } }), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
      [mint({ claims: { nbf: soon } }), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
      [mint({ lifetimeSeconds: -1 }), 'ERR_JWT_EXPIRED'],
      [mint({ key }), 'ERR_JWKS_NO_MATCHING_KEY'],
      [mint({ key, header: { kid } }), 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
      [mintIdToken(), 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
      [mintUnsigned(), 'ERR_JOSE_ALG_NOT_ALLOWED'],
      [mintWithPublicKeyAsSecret(), 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ];
    for (const [token, code] of wrong) await expect(rig.verify(token)).rejects.toMatchObject({ code });
    expect(mintUnsigned()).toMatch(/^[\w-]+\.[\w-]+\.$/);
  });

  test('signed with the public key as a secret is right for who takes it as one', async () => {
    const { mintWithPublicKeyAsSecret } = rig.idp.tokens;
    const { kty, n, e } = (await rig.jwks()).keys[0]!;
    const pem = createPublicKey({ key: { kty: kty!, n: n!, e: e! }, format: 'jwk' }).export({
      format: 'pem',
      type: 'spki',
    });
    const secrets = { pem, jwk: JSON.stringify({ kty, n, e }) };
    for (const text of ['pem', 'jwk'] as const) {
      const { payload } = await jwtVerify(mintWithPublicKeyAsSecret({ text }), Buffer.from(secrets[text]));
      expect(payload).toMatchObject({ sub: adaUser.id, aud: gatewayAudience });
    }
  });

  test('follows the clock it was given', async () => {
    const clock = createFakeClock();
    const { idp } = await createIdpRig({ clock });
    const { iat, exp } = decodeJwt(idp.tokens.mint());
    expect([iat, exp]).toEqual([clock.now() / 1000, clock.now() / 1000 + 3600]);
  });
});
