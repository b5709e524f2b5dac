import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { ProviderSettings } from '@behalf/settings';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { createDevAuthority } from '../../../../../devidp/src/devAuthority.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import { createTokenReply } from '../../../../test/tokenEndpoint.ts';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
  rig.endpoint.reply = () => createTokenReply({ issued_token_type: ACCESS_TOKEN });
});
afterEach(() => rig.close());

type Over = Partial<ProviderSettings>;
const pem = ({ privateKey }: { privateKey: KeyObject }) =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const at = (type: ProviderSettings['type'], overrides: Over = {}) =>
  rig.provider({ type, tokenEndpoint: `${rig.endpoint.origin}/token`, clientId: 'app-1', ...overrides });
const posted = () => rig.endpoint.requests.at(-1)!;

describe('form fields', () => {
  test('RFC 7523, byte for byte', async () => {
    await runExchange(at('jwt-bearer'), { scopes: ['b', 'a:x/y z'] });
    expect(posted()).toMatchObject({ method: 'POST', path: '/token' });
    expect(posted().headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(posted().body).toBe(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=subject-token-of-ada' +
        '&scope=b+a%3Ax%2Fy+z&client_id=app-1',
    );
    const parameters = { requested_token_use: 'on_behalf_of', x: 'ü&=' };
    await runExchange(at('jwt-bearer', { parameters }), {
      audience: 'aud',
      resource: 'https://r.example/?a=b',
      claims: '{}',
    });
    expect(posted().body).toBe(
      'requested_token_use=on_behalf_of&x=%C3%BC%26%3D' +
        '&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=subject-token-of-ada' +
        '&scope=api%3A%2F%2Ffiles%2Fread&audience=aud&resource=https%3A%2F%2Fr.example%2F%3Fa%3Db&claims=%7B%7D' +
        '&client_id=app-1',
    );
  });

  test('RFC 8693, byte for byte', async () => {
    await runExchange(at('token-exchange'));
    const grant =
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=subject-token-of-ada';
    const types = 'urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3A';
    expect(posted().body).toBe(
      `${grant}&subject_token_type=${types}access_token&scope=api%3A%2F%2Ffiles%2Fread&client_id=app-1`,
    );
    rig.files.set('actor.jwt', 'actor.jwt.text\n');
    const over = {
      actorTokenFile: 'actor.jwt',
      subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
      requestedTokenType: ACCESS_TOKEN,
    };
    await runExchange(at('token-exchange', over), { audience: 'aud', resource: 'r' });
    expect(posted().body).toBe(
      `${grant}&subject_token_type=${types}jwt&actor_token=actor.jwt.text&actor_token_type=${types}jwt` +
        `&requested_token_type=${types}access_token&scope=api%3A%2F%2Ffiles%2Fread&audience=aud&resource=r` +
        '&client_id=app-1',
    );
  });

  test('the actor is read anew, and another one is another key', async () => {
    const actor = (sub: string, n: number) =>
      `h.${Buffer.from(JSON.stringify({ iss: 'i', sub, n })).toString('base64url')}.s`;
    const provider = at('token-exchange', { actorTokenFile: 'actor.jwt' });
    const seen: string[] = [];
    for (const text of [actor('gateway', 1), actor('gateway', 2), actor('other', 1)]) {
      rig.files.set('actor.jwt', text);
      await runExchange(provider);
      expect(posted().form['actor_token']).toBe(text);
      seen.push(provider.identity.actor);
    }
    expect(seen[0]).toBe(seen[1]);
    expect(seen[2]).not.toBe(seen[1]);
    rig.files.clear();
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    expect(rig.endpoint.requests).toHaveLength(3);
    // It is not sent with any other grant, so it tells nothing apart there.
    expect(at('jwt-bearer', { actorTokenFile: 'actor.jwt' }).identity.actor).toBe('');
  });

  test('parameters never replace what the exchange itself fills in', async () => {
    const filled = ['scope', 'audience', 'resource', 'claims', 'client_id', 'client_secret'];
    const grants = {
      'jwt-bearer': ['grant_type', 'assertion'],
      'token-exchange': ['grant_type', 'subject_token', 'subject_token_type', 'requested_token_type'],
    };
    for (const type of ['jwt-bearer', 'token-exchange'] as const) {
      const names = [...filled, ...grants[type]];
      const parameters = { ...Object.fromEntries(names.map((name) => [name, 'evil'])), y: '1' };
      const more = { clientSecret: 's', clientAuth: 'post', requestedTokenType: ACCESS_TOKEN } as const;
      const wish = { audience: 'own', resource: 'https://r.example', claims: '{}' };
      await runExchange(at(type, { parameters, ...more }), wish);
      expect(posted().body).not.toContain('evil');
      const sent = new URLSearchParams(posted().body);
      // Once each: of two, a provider might take either.
      expect([...sent.keys()].sort()).toEqual([...names, 'y'].sort());
      expect(posted().form).toMatchObject({
        client_id: 'app-1',
        client_secret: 's',
        audience: 'own',
        y: '1',
      });
    }
    rig.files.set('federated.jwt', 'a.b.c').set('actor.jwt', 'actor');
    const proofs = ['client_assertion', 'client_assertion_type', 'actor_token', 'actor_token_type'];
    const parameters = Object.fromEntries(proofs.map((name) => [name, 'evil']));
    const files = { assertionFile: 'federated.jwt', actorTokenFile: 'actor.jwt' };
    await runExchange(at('token-exchange', { parameters, ...files }));
    expect(posted().body).not.toContain('evil');
    expect(posted().form).toMatchObject({ client_assertion: 'a.b.c', actor_token: 'actor' });
  });
});

describe('client authentication', () => {
  test('a secret travels in the header, form-encoded', async () => {
    await runExchange(at('jwt-bearer', { clientId: 'a:p p', clientSecret: 'p%:ä +' }));
    const { headers, form } = posted();
    expect(Buffer.from(headers.authorization!.slice('Basic '.length), 'base64').toString()).toBe(
      'a%3Ap+p:p%25%3A%C3%A4+%2B',
    );
    expect([form['client_id'], form['client_secret']]).toEqual([undefined, undefined]);
  });

  test('in the body where that is said, and never both', async () => {
    await runExchange(at('token-exchange', { clientSecret: 'secret', clientAuth: 'post' }));
    expect(posted().headers.authorization).toBeUndefined();
    expect(posted().form).toMatchObject({ client_id: 'app-1', client_secret: 'secret' });
  });

  const kinds: [string, () => { privateKey: KeyObject }][] = [
    ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ES384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['EdDSA', () => generateKeyPairSync('ed25519')],
  ];
  for (const [alg, make] of kinds) {
    test(`private_key_jwt by ${alg}`, async () => {
      const { privateKey } = make();
      rig.files.set('key.pem', pem({ privateKey }));
      const provider = at('jwt-bearer', { privateKeyFile: 'key.pem', clientSecret: 'unused' });
      const ids = new Set<unknown>();
      for (let turn = 0; turn < 2; turn += 1) {
        await runExchange(provider);
        const { form, headers, body } = posted();
        expect(body).not.toContain('unused');
        expect(headers.authorization).toBeUndefined();
        expect(form['client_assertion_type']).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
        const assertion = form['client_assertion']!;
        expect(decodeProtectedHeader(assertion)).toEqual({ alg, typ: 'JWT' });
        const seconds = rig.clock.now() / 1_000;
        const { payload } = await jwtVerify(assertion, createPublicKey(privateKey), {
          currentDate: new Date(rig.clock.now()),
        });
        expect(payload).toEqual({
          ...{ iss: 'app-1', sub: 'app-1', aud: `${rig.endpoint.origin}/token` },
          ...{ iat: seconds, exp: seconds + 60, jti: expect.any(String) },
        });
        ids.add(payload.jti);
      }
      expect(ids.size).toBe(2);
    });
  }

  test('a certificate is named beside the signature', async () => {
    const { cert, key, thumbprint } = await (await createDevAuthority()).issueClient('a');
    rig.files.set('cert.pem', cert).set('key.pem', key);
    await runExchange(at('jwt-bearer', { certificateFile: 'cert.pem', privateKeyFile: 'key.pem' }));
    expect(decodeProtectedHeader(posted().form['client_assertion']!)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      'x5t#S256': Buffer.from(thumbprint, 'hex').toString('base64url'),
    });
  });

  test('an assertion from a file, and a client without any proof', async () => {
    rig.files.set('federated.jwt', 'a.b.c');
    await runExchange(at('token-exchange', { assertionFile: 'federated.jwt', clientSecret: 'unused' }));
    expect(posted().form).toMatchObject({ client_id: 'app-1', client_assertion: 'a.b.c' });
    expect(posted().body).not.toContain('unused');
    await runExchange(at('token-exchange'));
    expect([posted().form['client_id'], posted().form['client_assertion']]).toEqual(['app-1', undefined]);
  });

  test('a proof that is asked for and not there: nothing is sent', async () => {
    rig.files.set('odd.pem', pem(generateKeyPairSync('ed448')));
    rig.files.set('weak.pem', pem(generateKeyPairSync('rsa', { modulusLength: 1024 })));
    rig.files.set('pss.pem', pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 })));
    const incomplete: Over[] = [
      { clientAuth: 'private_key_jwt' },
      { clientAuth: 'private_key_jwt', clientSecret: 'secret' },
      { clientAuth: 'basic' },
      { privateKeyFile: 'absent.pem' },
      { privateKeyFile: 'odd.pem' },
      { privateKeyFile: 'pss.pem' },
      { privateKeyFile: 'weak.pem' },
      { clientId: undefined },
    ];
    for (const over of incomplete) {
      expect(await expectExchangeFault(runExchange(at('jwt-bearer', over)))).toMatchObject({
        code: 'OBO_MISCONFIGURED',
      });
    }
    expect(rig.requests).toEqual([]);
  });
});
