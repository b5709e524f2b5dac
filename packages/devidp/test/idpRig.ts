import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTVerifyResult } from 'jose';
import * as client from 'openid-client';
import { createScriptedBrowser, createDevIdp, type DevIdp, type DevIdpOptions } from '../src/index.ts';

export const webClient = {
  id: 'web',
  secret: 'web-secret',
  redirectUris: ['http://127.0.0.1:1/callback'],
  postLogoutRedirectUris: ['http://127.0.0.1:1/bye'],
};
export const serviceClient = { id: 'robot', secret: 'robot-secret', appRoles: ['ADMIN'], tenant: 'acme' };
export const adaUser = {
  id: 'u-ada',
  email: 'ada@example.test',
  name: 'Ada',
  roles: ['ADMIN'],
  groups: ['staff', 'ops'],
  tenant: 'acme',
};
export const bobUser = { id: 'u-bob', email: 'bob@example.test', name: 'Bob' };
export const gatewayAudience = 'api://gateway';

const startedIdps: DevIdp[] = [];

/** For `afterEach` or `afterAll`: also what a test that failed did not come to close. */
export async function closeIdps(): Promise<void> {
  for (const idp of startedIdps.splice(0)) await idp.close();
}

/** A provider with two users and two clients, and what a relying party does with it. */
export async function createIdpRig(options: Partial<DevIdpOptions> = {}) {
  const idp = await createDevIdp({
    isProduction: false,
    port: 0,
    users: [adaUser, bobUser],
    clients: [webClient, serviceClient],
    audience: gatewayAudience,
    ...options,
  });
  startedIdps.push(idp);
  return { idp, ...createRelyingParty(idp) };
}

function createRelyingParty({ issuer }: DevIdp) {
  const discover = ({ id, secret }: { id: string; secret: string } = webClient) =>
    client.discovery(new URL(issuer), id, secret, undefined, {
      // Plain http, as it is on loopback.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      execute: [client.allowInsecureRequests],
    });
  const jwks = async () => (await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet;

  /** An authorization request, and what its answer is checked against. */
  const beginSignIn = async (scope = 'openid email profile') => {
    const config = await discover();
    const verifier = client.randomPKCECodeVerifier();
    const nonce = client.randomNonce();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: webClient.redirectUris[0]!,
      scope,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const finishSignIn = (callback: URL) =>
      client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier, expectedNonce: nonce });
    return { config, url, finishSignIn };
  };
  const signIn = async (userId: string, scope?: string) => {
    const browser = createScriptedBrowser();
    const { config, url, finishSignIn } = await beginSignIn(scope);
    const callback = await browser.signIn(url, userId);
    return { config, browser, callback, tokens: await finishSignIn(callback) };
  };
  /** As the gateway does: against the keys that are published now. */
  const verify = async (token: string): Promise<JWTVerifyResult> =>
    jwtVerify(token, createLocalJWKSet(await jwks()), {
      issuer,
      audience: gatewayAudience,
      algorithms: ['RS256'],
    });

  return { discover, jwks, beginSignIn, signIn, verify };
}
