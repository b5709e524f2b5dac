import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, importPKCS8, SignJWT } from 'jose';
import {
  closeExchangeRigs,
  createExchangeRig,
  GRANTS,
  mail,
  OBO_SECRET,
  TYPES,
  type ExchangeRig,
} from '../../test/exchangeRig.ts';
import { adaUser, bobUser } from '../../test/idpRig.ts';

let rig: ExchangeRig;
beforeAll(async () => void (rig = await createExchangeRig()));
afterAll(closeExchangeRigs);

const ofMail = (token: string) => rig.verifyToken(token, mail.audience, rig.idp.issuer);
const errorOf = async (request: ReturnType<ExchangeRig['requestExchange']>) => {
  const { status, body } = await request;
  expect(body).not.toHaveProperty('access_token');
  return [status, body.error];
};

describe('a token exchange', () => {
  test('gives a token for the target that speaks of the user', async () => {
    const { status, headers, body } = await rig.requestExchange();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toMatchObject({
      ...{ token_type: 'Bearer', issued_token_type: TYPES.access, expires_in: 3600, scope: 'read send' },
    });
    const claims = await ofMail(body.access_token);
    expect(claims).toMatchObject({ sub: adaUser.id, scope: 'read send', azp: 'obo', name: adaUser.name });
    expect(claims).not.toHaveProperty('act');
    expect(decodeProtectedHeader(body.access_token).typ).toBe('at+jwt');
  });

  test('takes the target as audience, location or part of the scope', async () => {
    const ways: Record<string, string | string[] | undefined>[] = [
      { audience: mail.audience, scope: 'read' },
      { audience: undefined, resource: mail.locations[0], scope: 'api://mail/read' },
      { audience: [mail.id, mail.audience], resource: mail.locations[0], scope: 'read' },
      { audience: undefined, scope: 'api://mail/read' },
    ];
    for (const way of ways) {
      const { body } = await rig.requestExchange(way);
      expect(body.scope).toBe('read');
      expect((await ofMail(body.access_token)).scope).toBe('read');
    }
  });

  test('says when it is not for use as an access token', async () => {
    const { body } = await rig.requestExchange({ requested_token_type: TYPES.jwt });
    expect(body).toMatchObject({ issued_token_type: TYPES.jwt, token_type: 'N_A' });
  });

  test('names who acts, and who acted before', async () => {
    const actor = {
      actor_token: rig.idp.tokens.mintAppOnly({ client: 'robot' }),
      actor_token_type: TYPES.access,
    };
    const { body } = await rig.requestExchange(actor);
    expect((await ofMail(body.access_token)).act).toEqual({ sub: 'robot' });
    const again = rig.idp.tokens.mint({ claims: { act: { sub: 'first' } } });
    const nested = await rig.requestExchange({ ...actor, subject_token: again });
    expect((await ofMail(nested.body.access_token)).act).toEqual({ sub: 'robot', act: { sub: 'first' } });
  });

  test('refuses an actor that does not hold', async () => {
    const { mintAppOnly, createUnknownKey: unknownKey } = rig.idp.tokens;
    const forged = mintAppOnly({ key: await unknownKey() });
    const refused: Record<string, string>[] = [
      { actor_token: forged, actor_token_type: TYPES.access },
      { actor_token: mintAppOnly({ lifetimeSeconds: -1 }), actor_token_type: TYPES.access },
      { actor_token: mintAppOnly() },
      { actor_token: mintAppOnly(), actor_token_type: 'urn:other' },
      { actor_token_type: TYPES.access },
    ];
    for (const fields of refused)
      expect(await errorOf(rig.requestExchange(fields))).toEqual([400, 'invalid_request']);
  });

  test('refuses a subject token that does not hold', async () => {
    const { mint, mintIdToken, mintAppOnly, mintUnsigned, createUnknownKey: unknownKey } = rig.idp.tokens;
    const tokens = [
      mint({ key: await unknownKey() }),
      mint({ lifetimeSeconds: -1 }),
      mint({ claims: { aud: 'api://other' } }),
      mint({ claims: { iss: 'https://elsewhere.example' } }),
      mint({ subject: 'u-nobody' }),
      ...[mintIdToken(), mintAppOnly(), mintUnsigned(), '', 'x'],
    ];
    for (const subject_token of tokens) {
      expect(await errorOf(rig.requestExchange({ subject_token }))).toEqual([400, 'invalid_request']);
      const bearer = { grant_type: GRANTS.bearer, subject_token: undefined, assertion: subject_token };
      const expected = subject_token === '' ? 'invalid_request' : 'invalid_grant';
      expect(await errorOf(rig.requestExchange(bearer))).toEqual([400, expected]);
    }
    const other = await createExchangeRig({ subjectTokenError: 'invalid_grant' });
    expect(await errorOf(other.requestExchange({ subject_token: tokens[0] }))).toEqual([
      400,
      'invalid_grant',
    ]);
  });

  test('wants the type to be that of the token', async () => {
    const idToken = rig.idp.tokens.mintIdToken();
    const typed = (subject_token: string, subject_token_type: string | undefined) =>
      rig.requestExchange({ subject_token, subject_token_type });
    expect((await typed(idToken, TYPES.id)).status).toBe(200);
    expect((await typed(rig.idp.tokens.mint(), TYPES.jwt)).status).toBe(200);
    const wrong: [string, string | undefined][] = [
      [rig.idp.tokens.mint(), TYPES.id],
      [rig.idp.tokens.mintIdToken({ client: 'robot' }), TYPES.id],
      [idToken, TYPES.access],
      [idToken, 'urn:ietf:params:oauth:token-type:saml2'],
      [idToken, undefined],
    ];
    for (const [token, type] of wrong)
      expect(await errorOf(typed(token, type))).toEqual([400, 'invalid_request']);
  });

  test('refuses what it gives no tokens for', async () => {
    const refused: [Record<string, string | string[] | undefined>, string][] = [
      [{ audience: 'api://nothing' }, 'invalid_target'],
      [{ audience: undefined, resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ audience: [mail.id, 'api://wiki'] }, 'invalid_target'],
      [{ scope: 'delete' }, 'invalid_scope'],
      [{ scope: 'read api://wiki/edit' }, 'invalid_scope'],
      [{ audience: undefined }, 'invalid_request'],
      [{ audience: 'api://wiki' }, 'invalid_grant'],
      [{ requested_token_type: TYPES.id }, 'invalid_request'],
    ];
    for (const [fields, error] of refused)
      expect(await errorOf(rig.requestExchange(fields))).toEqual([400, error]);
    const subject_token = rig.idp.tokens.mint({ user: bobUser.id });
    expect((await rig.requestExchange({ audience: 'api://wiki', subject_token })).status).toBe(200);
  });

  test('refuses a client that is not proven', async () => {
    const unproven = [
      { client_secret: 'guessed' },
      { client_secret: undefined },
      { client_id: 'nobody' },
      { client_id: undefined },
    ];
    for (const fields of unproven) {
      expect(await errorOf(rig.requestExchange(fields))).toEqual([401, 'invalid_client']);
    }
    const robot = { client_id: 'robot', client_secret: 'robot-secret' };
    expect(await errorOf(rig.requestExchange(robot))).toEqual([400, 'invalid_request']);
  });

  test('takes a proof in the header and one signed with its key', async () => {
    const body = new URLSearchParams({
      ...{ grant_type: GRANTS.bearer, assertion: rig.idp.tokens.mint(), scope: 'api://mail/send' },
    });
    const basic = (secret: string) =>
      rig.fetch(rig.idp.tokenEndpoint, {
        ...{ method: 'POST', body },
        headers: { authorization: `Basic ${Buffer.from(`obo:${secret}`).toString('base64')}` },
      });
    const answer = await basic(OBO_SECRET);
    const { access_token } = (await answer.json()) as { access_token: string };
    expect(await ofMail(access_token)).toMatchObject({ sub: adaUser.id, scope: 'send' });
    const refused = await basic('guessed');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="token"']);

    const assertion = async (aud: string, key: string) => ({
      ...{ client_id: undefined, client_secret: undefined },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT({ iss: 'obo', sub: 'obo', aud })
        .setProtectedHeader({ alg: 'RS256' })
        .setExpirationTime('1m')
        .sign(await importPKCS8(key, 'RS256')),
    });
    const { key } = rig.certificate;
    for (const aud of [rig.idp.tokenEndpoint, rig.idp.issuer]) {
      expect((await rig.requestExchange(await assertion(aud, key))).status).toBe(200);
    }
    const other = await rig.ca.issueClient('obo');
    expect((await rig.requestExchange(await assertion(rig.idp.issuer, other.key))).status).toBe(401);
    expect((await rig.requestExchange(await assertion('https://elsewhere.example', key))).status).toBe(401);
  });
});
