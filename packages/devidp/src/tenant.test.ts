import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import {
  closeExchangeRigs,
  createExchangeRig,
  mail,
  OBO_SECRET,
  RIG_TENANT,
  type ExchangeRig,
} from '../test/exchangeRig.ts';
import { adaUser, bobUser } from '../test/idpRig.ts';
import { createScriptedBrowser } from './scriptedBrowser.ts';

let rig: ExchangeRig;
beforeAll(async () => void (rig = await createExchangeRig()));
afterAll(closeExchangeRigs);

async function signIn(userId: string, more: Record<string, string> = {}) {
  const { fetch } = rig;
  const config = await client.discovery(new URL(rig.entra.issuer), 'obo', OBO_SECRET, undefined, {
    [client.customFetch]: (url, options) => fetch(url, options as RequestInit),
  });
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: 'http://127.0.0.1:1/callback',
    scope: 'openid profile email api://obo/access_as_user',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  });
  const callback = await createScriptedBrowser({ fetch }).signIn(url, userId);
  const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier });
  return { config, tokens };
}

describe('a tenant', () => {
  test('has addresses as Entra has them', async () => {
    const response = await rig.fetch(`${rig.entra.issuer}/.well-known/openid-configuration`);
    const base = `${rig.idp.issuer}/${RIG_TENANT}`;
    expect(await response.json()).toMatchObject({
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
      end_session_endpoint: `${base}/oauth2/v2.0/logout`,
    });
    const keys = await rig.fetch(`${base}/discovery/v2.0/keys`);
    expect(await keys.json()).toMatchObject({ keys: [{ kid: expect.any(String), use: 'sig' }] });
  });

  test('signs people in, and what it gives them can be exchanged', async () => {
    const { config, tokens } = await signIn(adaUser.id);
    expect(tokens.claims()).toMatchObject({ iss: rig.entra.issuer, sub: adaUser.id });
    const claims = await rig.verifyToken(tokens.access_token, 'api://obo', rig.entra.issuer);
    expect(claims).toMatchObject({
      scp: 'access_as_user',
      oid: adaUser.id,
      tid: adaUser.tenant,
      ver: '2.0',
      name: adaUser.name,
    });
    expect(claims).not.toHaveProperty('scope');
    const { body } = await rig.requestObo({ assertion: tokens.access_token });
    expect((await rig.verifyToken(body.access_token, mail.audience, rig.entra.issuer)).sub).toBe(adaUser.id);
    expect((await rig.requestObo({ assertion: tokens.id_token })).body.error_codes).toEqual([240002]);

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
    expect((await rig.requestObo({ assertion: refreshed.access_token })).status).toBe(200);
  });

  test('goes on signing people in after a rotation of keys', async () => {
    const { tokens } = await signIn(bobUser.id);
    await rig.idp.rotateKeys({ keepOld: true });
    expect((await rig.requestObo({ assertion: tokens.access_token })).status).toBe(200);
    expect((await signIn(bobUser.id)).tokens.claims()).toMatchObject({ sub: bobUser.id });
    await rig.idp.rotateKeys({ keepOld: false });
    expect((await rig.requestObo({ assertion: tokens.access_token })).body.error_codes).toEqual([50013]);
    const fresh = (await signIn(bobUser.id)).tokens.access_token;
    expect((await rig.requestObo({ assertion: fresh })).status).toBe(200);
  });

  test('is met by signing in with it', async () => {
    const wanted = { acrs: { essential: true, value: 'c7' }, roles: { value: 'OWNER' } };
    const claims = JSON.stringify({ access_token: wanted });
    const before = await signIn(adaUser.id);
    expect(
      (await rig.verifyToken(before.tokens.access_token, 'api://obo', rig.entra.issuer)).acrs,
    ).toBeUndefined();
    const { tokens } = await signIn(adaUser.id, { claims, prompt: 'login' });
    expect(await rig.verifyToken(tokens.access_token, 'api://obo', rig.entra.issuer)).toMatchObject({
      acrs: ['c7'],
      roles: adaUser.roles,
    });
    expect(rig.idp.requestLog.signIns.at(-1)).toEqual({
      client: 'obo',
      user: adaUser.id,
      claims,
      prompt: 'login',
    });
  });
});

describe('https', () => {
  test('is vouched for by the authority that was made for it, alone', async () => {
    const url = `${rig.idp.issuer}/jwks`;
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect((await rig.fetch(url)).status).toBe(200);
    expect((await rig.fetch(url.replace('127.0.0.1', 'localhost'))).status).toBe(200);
    await expect(globalThis.fetch(url)).rejects.toThrow('fetch failed');
    const other = await createExchangeRig();
    await expect(other.fetch(url)).rejects.toThrow('fetch failed');
  });
});
