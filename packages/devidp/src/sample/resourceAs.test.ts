import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  type ExchangeRig,
  GRANTS,
  OBO_SECRET,
  TYPES,
  closeExchangeRigs,
  createExchangeRig,
  mail,
} from '../../test/exchangeRig.ts';
import { adaUser, bobUser, closeIdps, createIdpRig, serviceClient, webClient } from '../../test/idpRig.ts';
import { type ResourceAs, createResourceAs } from './createResourceAs.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const [LOCATION = ''] = mail.locations;

let rig: ExchangeRig;
let as: ResourceAs;
const idJagClients: Record<string, string> = {};
beforeAll(async () => {
  const client = {
    id: 'obo',
    secret: OBO_SECRET,
    redirectUris: ['http://127.0.0.1:1/callback'],
    idJagClients,
  };
  rig = await createExchangeRig({ clients: [client, { id: 'robot', secret: 'robot-secret' }] });
  as = await createResourceAs({
    ...{ isProduction: false, idp: rig.idp, https: { ca: rig.ca } },
    clients: [
      { id: 'us-there', secret: 'there' },
      { id: 'other', secret: 'other' },
    ],
  });
  idJagClients[as.issuer] = 'us-there';
});
afterAll(async () => {
  await as.close();
  await closeExchangeRigs();
});

const assertion = (overrides: Record<string, string | undefined> = {}) =>
  rig.requestExchange({
    ...{ requested_token_type: ID_JAG, audience: as.issuer, resource: LOCATION, scope: 'read' },
    ...{ subject_token: rig.idp.tokens.mintIdToken(), subject_token_type: ID_TOKEN, ...overrides },
  });
const redeem = (text: string, overrides: Record<string, string> = {}) =>
  rig.postForm(as.tokenEndpoint, {
    ...{
      grant_type: GRANTS.bearer,
      assertion: text,
      client_id: 'us-there',
      client_secret: 'there',
      ...overrides,
    },
  });

describe('identity assertions of the development provider', () => {
  test('speak of the user to one authorization server, for one client and resource', async () => {
    const { status, body } = await assertion();
    expect([status, body.token_type, body.issued_token_type, body['expires_in']]).toEqual([
      200,
      'N_A',
      ID_JAG,
      300,
    ]);
    expect(decodeProtectedHeader(body.access_token).typ).toBe('oauth-id-jag+jwt');
    expect(await rig.verifyToken(body.access_token, as.issuer, rig.idp.issuer)).toMatchObject({
      ...{
        sub: adaUser.id,
        client_id: 'us-there',
        resource: LOCATION,
        scope: 'read',
        jti: expect.any(String),
      },
    });
  });

  test('are given for an ID token, to who is known there', async () => {
    const errors = async (overrides: Record<string, string | undefined>) =>
      (await assertion(overrides)).body['error'];
    const access = {
      subject_token: rig.idp.tokens.mint(),
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    expect(await errors(access)).toBe('invalid_request');
    expect(await errors({ audience: 'https://elsewhere.example' })).toBe('invalid_target');
    expect(await errors({ audience: undefined })).toBe('invalid_request');
    expect(await errors({ resource: undefined })).toBe('invalid_request');
    expect(await errors({ resource: 'https://unknown.example/mcp' })).toBe('invalid_target');
    const notForUs = rig.idp.tokens.mintIdToken({ client: 'robot' });
    expect(await errors({ subject_token: notForUs })).toBe('invalid_request');
  });

  test('are good once, for the client they name, at the server they are for', async () => {
    const { body } = await assertion({ subject_token: rig.idp.tokens.mintIdToken({ user: bobUser.id }) });
    expect(
      (await redeem(body.access_token, { client_id: 'other', client_secret: 'other' })).body['error'],
    ).toBe('invalid_grant');
    const tokenResponse = await redeem(body.access_token);
    expect(tokenResponse.status).toBe(200);
    const keys = createLocalJWKSet(as.getPublicKeys());
    const { payload } = await jwtVerify(tokenResponse.body.access_token, keys, {
      issuer: as.issuer,
      audience: LOCATION,
    });
    expect(payload).toMatchObject({ sub: bobUser.id, scope: 'read' });
    expect((await redeem(body.access_token)).body['error']).toBe('invalid_grant');
    expect(as.requests.map(({ status }) => status)).toEqual([400, 200, 400]);
    expect(as.requests.at(-1)?.jti).toBe(decodeJwt(body.access_token).jti);
    expect((await redeem(rig.idp.tokens.mintIdToken())).body['error']).toBe('invalid_grant');
    expect((await redeem(body.access_token, { client_secret: 'wrong' })).status).toBe(401);
  });
});

describe('identity assertions for a refresh token', () => {
  const TYPE = 'urn:ietf:params:oauth:token-type:refresh_token';
  const there = 'https://as.example';
  const known = { ...webClient, idJagClients: { [there]: 'us-there' } };
  const resources = [{ ...mail, locations: [LOCATION] }];
  afterAll(closeIdps);

  async function exchanged(rotateOnExchange: boolean) {
    const { idp, signIn } = await createIdpRig({
      clients: [known, serviceClient],
      resources,
      shouldRotateOnExchange: rotateOnExchange,
    });
    const { tokens } = await signIn(adaUser.id);
    const ask = async (subject: string, overrides: Record<string, string> = {}) => {
      const body = new URLSearchParams({
        ...{ grant_type: GRANTS.exchange, requested_token_type: ID_JAG, audience: there, resource: LOCATION },
        ...{ scope: 'read', subject_token: subject, subject_token_type: TYPE },
        ...{ client_id: known.id, client_secret: known.secret, ...overrides },
      });
      const answer = await fetch(idp.tokenEndpoint, { method: 'POST', body });
      return (await answer.json()) as Record<string, string>;
    };
    return { ask, first: tokens.refresh_token ?? '' };
  }

  test('are given to its client, for nothing but an assertion', async () => {
    const { ask, first } = await exchanged(false);
    const { access_token: text = '', refresh_token: next } = await ask(first);
    expect(decodeJwt(text)).toMatchObject({ sub: adaUser.id, client_id: 'us-there', aud: there });
    expect(next).toBeUndefined();
    expect((await ask(first)).error).toBeUndefined();
    expect((await ask('made up')).error).toBe('invalid_request');
    expect((await ask(first, { client_id: 'robot', client_secret: 'robot-secret' })).error).toBe(
      'invalid_request',
    );
    expect((await ask(first, { requested_token_type: TYPES.access })).error).toBe('invalid_request');
  });

  test('use it up where that is asked, and one that comes again ends them all', async () => {
    const { ask, first } = await exchanged(true);
    const { refresh_token: second = '' } = await ask(first);
    const { refresh_token: third = '' } = await ask(second);
    expect(new Set([first, second, third]).size).toBe(3);
    expect((await ask(second)).error).toBe('invalid_request');
    expect((await ask(third)).error).toBe('invalid_request');
  });
});
