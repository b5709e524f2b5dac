import { describe, expect, test } from '@jest/globals';
import { findingCodes, type FoundCodes } from '../../test/serverDiagnostics.ts';
import { loadSettings } from '../loadSettings.ts';

const signIn = {
  OPENID_ISSUER: 'https://login.microsoftonline.com/tenant/v2.0',
  OPENID_CLIENT_ID: 'behalf',
  OPENID_CLIENT_SECRET: 'secret',
};

/** What is wrong with one provider, paths below `identityProviders.p`. */
function provider(entry: Record<string, unknown>, env: Record<string, string> = {}, name = 'p'): FoundCodes {
  return findingCodes({ identityProviders: { [name]: entry } }, env).map(([path, code]) => [
    path.replace(`identityProviders.${name}`, '').replace(/^\./, ''),
    code,
  ]);
}

const entra = {
  type: 'entra',
  authority: 'https://login.microsoftonline.com/tenant',
  clientId: 'c',
  clientSecret: 's',
};
const exchange = { type: 'token-exchange', issuer: 'https://sso.example', clientId: 'c', clientSecret: 's' };
const certificate = { certificateFile: '/c', privateKeyFile: '/k' };

describe('a provider that tokens are exchanged at', () => {
  test('entra needs an authority with a tenant, its own or the login’s', () => {
    const { authority: _, ...bare } = entra;
    expect(provider(entra)).toEqual([]);
    expect(provider(bare)).toEqual([['', 'missing']]);
    expect(provider({ ...bare, issuer: entra.authority })).toEqual([]);
    expect(provider(bare, signIn)).toEqual([]);
    expect(provider({ ...entra, authority: 'https://login.microsoftonline.com/' })).toEqual([
      ['authority', 'authority'],
    ]);
    expect(provider({ ...entra, authority: 'https://127.0.0.1:9000/tenant' })).toEqual([]);
  });

  test('the others need an issuer or a token endpoint, or the login’s', () => {
    for (const type of ['jwt-bearer', 'token-exchange']) {
      const { issuer: _, ...bare } = { ...exchange, type };
      expect(provider(bare)).toEqual([['', 'missing']]);
      expect(provider({ ...bare, tokenEndpoint: 'https://sso.example/t' })).toEqual([]);
      expect(provider({ ...bare, issuer: 'https://sso.example' })).toEqual([]);
      expect(provider(bare, signIn)).toEqual([]);
      expect(provider({ ...exchange, type, authority: 'https://a.example/t' })).toEqual([
        ['authority', 'provider_field'],
      ]);
    }
  });

  test('entra has one credential of its client: no more, no less', () => {
    const { clientSecret: _, ...bare } = entra;
    expect(provider(bare)).toEqual([['', 'client_credential']]);
    for (const one of [{ clientSecret: 's' }, certificate, { assertionFile: '/a' }]) {
      expect(provider({ ...bare, ...one })).toEqual([]);
    }
    for (const two of [certificate, { assertionFile: '/a' }]) {
      expect(provider({ ...entra, ...two })).toEqual([['', 'client_credential']]);
    }
    expect(provider({ ...bare, ...certificate, assertionFile: '/a' })).toEqual([['', 'client_credential']]);
    // The login client, with its secret or another credential; a client of one's own inherits no secret.
    expect(provider({ type: 'entra' }, signIn)).toEqual([]);
    expect(provider({ type: 'entra', ...certificate }, signIn)).toEqual([]);
    expect(provider({ type: 'entra', clientId: 'c' }, signIn)).toEqual([['', 'client_credential']]);
    expect(provider({ type: 'entra' }, { ...signIn, OPENID_CLIENT_SECRET: ' ' })).toEqual([
      ['', 'client_credential'],
    ]);
    expect(provider(certificate && { ...bare, certificateFile: '/c' })).toEqual([['', 'missing']]);
    expect(provider({ ...exchange, ...certificate })).toEqual([['', 'client_credential']]);
  });

  test('who we are is said, and how we prove it fits what there is', () => {
    const { clientId: _, clientSecret: __, ...withoutClient } = exchange;
    const here = { ...signIn, OPENID_ISSUER: exchange.issuer };
    expect(provider(withoutClient)).toEqual([['clientId', 'missing']]);
    expect(provider(withoutClient, here)).toEqual([]);
    expect(provider({ ...withoutClient, clientSecret: 's' }, here)).toEqual([['clientSecret', 'missing']]);
    expect(provider({ ...withoutClient, clientSecret: 's' }, here, 'login')).toEqual([]);
    expect(provider({ ...exchange, clientId: '${ID:-}' })).toEqual([['clientId', 'missing']]);
    const client = { ...withoutClient, clientId: 'c' };
    expect(provider({ ...client, clientAuth: 'post' })).toEqual([['clientAuth', 'client_credential']]);
    expect(provider({ ...exchange, clientAuth: 'private_key_jwt' })).toEqual([
      ['clientAuth', 'client_credential'],
    ]);
    expect(provider({ ...client, ...certificate, clientAuth: 'private_key_jwt' })).toEqual([]);
    expect(provider({ ...withoutClient, clientAuth: 'basic' }, here)).toEqual([]);
  });

  test('clientAssertionAudience needs a key, and an issuer to name', () => {
    const { clientSecret: _, ...withoutSecret } = exchange;
    const signed = { ...withoutSecret, ...certificate };
    const at = (place: object) => provider({ ...signed, issuer: undefined, ...place });
    for (const clientAssertionAudience of ['issuer', 'token_endpoint']) {
      expect(provider({ ...signed, clientAssertionAudience })).toEqual([]);
      expect(provider({ ...exchange, clientAssertionAudience })).toEqual([
        ['clientAssertionAudience', 'provider_field'],
      ]);
    }
    const tokenEndpoint = 'https://sso.example/token';
    expect(at({ tokenEndpoint, clientAssertionAudience: 'token_endpoint' })).toEqual([]);
    expect(at({ tokenEndpoint, clientAssertionAudience: 'issuer' })).toEqual([
      ['clientAssertionAudience', 'missing'],
    ]);
    expect(provider({ ...signed, clientAssertionAudience: 'both' })).toEqual([
      ['clientAssertionAudience', 'wrong_value'],
    ]);
  });

  test('the login client is nobody’s, and its secret nobody’s, elsewhere', () => {
    const missing = ['clientId', 'missing'];
    const at = (place: object, issuer: string, type = 'token-exchange') =>
      provider({ type, ...place }, { ...signIn, OPENID_ISSUER: issuer }, 'login');
    const sso = 'https://sso.example/realms/one';
    for (const place of [
      { issuer: 'https://sso.example/realms/two' },
      { tokenEndpoint: 'https://SSO.example:443/token' },
      { issuer: sso, tokenEndpoint: 'https://sso.example/token' },
      {},
    ]) {
      expect(at(place, sso)).toEqual([]);
    }
    for (const place of [
      { issuer: 'https://partner.example' },
      { tokenEndpoint: 'https://partner.example/token' },
      { tokenEndpoint: 'https://sso.example:8443/token' },
      { tokenEndpoint: 'https://sso.example.partner.example/token' },
      { issuer: sso, tokenEndpoint: 'https://partner.example/token' },
      { issuer: 'https://partner.example', tokenEndpoint: 'https://sso.example/token' },
    ]) {
      expect(at(place, sso)).toEqual([missing]);
      expect(at({ ...place, clientId: 'c', clientSecret: 's' }, sso)).toEqual([]);
    }
    // A secret or a method of the login's does not count there either.
    const partner = { tokenEndpoint: 'https://partner.example/token', clientAuth: 'post' };
    expect(at(partner, sso)).toEqual([missing, ['clientAuth', 'client_credential']]);
    const authority = 'https://login.partner.example/tenant';
    expect(at({ authority }, sso, 'entra')).toEqual([missing, ['', 'client_credential']]);
    // Entra issues under one name and answers under another, within one cloud.
    const entraAt = (host: string, issuer: string) =>
      at({ authority: `https://${host}/tenant` }, `https://${issuer}/tenant/v2.0`, 'entra').length === 0;
    expect(entraAt('login.microsoftonline.com', 'sts.windows.net')).toBe(true);
    expect(entraAt('login.partner.microsoftonline.cn', 'sts.chinacloudapi.cn')).toBe(true);
    expect(entraAt('login.partner.microsoftonline.cn', 'login.microsoftonline.com')).toBe(false);
    expect(entraAt('login.microsoftonline.com:8443', 'sts.windows.net')).toBe(false);
    expect(entraAt('one.ciamlogin.com', 'one.ciamlogin.com')).toBe(true);
    expect(entraAt('two.ciamlogin.com', 'one.ciamlogin.com')).toBe(false);
  });

  test('a field that would have no effect is refused', () => {
    for (const [key, value] of [
      ['tokenEndpoint', 'https://sso.example/t'],
      ['clientAuth', 'post'],
      ['parameters', { a: 'b' }],
      ['subjectTokenType', 'urn:x'],
      ['requestedTokenType', 'urn:x'],
      ['actorTokenFile', '/a'],
    ] as const) {
      expect(provider({ ...entra, [key]: value })).toEqual([[key, 'provider_field']]);
    }
    const jwtBearer = { ...exchange, type: 'jwt-bearer' };
    for (const key of ['subjectTokenType', 'requestedTokenType', 'actorTokenFile']) {
      expect(provider({ ...exchange, [key]: 'urn:x' })).toEqual([]);
      expect(provider({ ...jwtBearer, [key]: 'urn:x' })).toEqual([[key, 'provider_field']]);
      const mcpServers = {
        s: {
          ...{ type: 'http', url: 'https://s.example' },
          obo: { scopes: 'a', provider: 'p', grant: 'token-exchange' },
        },
      };
      expect(
        findingCodes({ identityProviders: { p: { ...jwtBearer, [key]: 'urn:x' } }, mcpServers }),
      ).toEqual([]);
    }
  });

  test('what the exchange itself says is no parameter', () => {
    for (const name of [
      ...['grant_type', 'assertion', 'subject_token', 'subject_token_type', 'actor_token_type', 'scope'],
      ...[
        'requested_token_type',
        'client_id',
        'client_assertion_type',
        'audience',
        'resource',
        'Scope',
        'claims',
      ],
    ]) {
      expect(provider({ ...exchange, parameters: { [name]: 'x' } })).toEqual([
        [`parameters.${name}`, 'reserved'],
      ]);
    }
    expect(provider({ ...exchange, parameters: { requested_token_use: 'on_behalf_of' } })).toEqual([]);
  });

  test('secrets and tokens go to endpoints over https, or stay on the machine', () => {
    for (const key of ['issuer', 'tokenEndpoint']) {
      for (const url of ['http://sso.example', 'http://127.0.0.1.evil.example', 'http://10.0.0.1']) {
        expect(provider({ ...exchange, [key]: url })).toEqual([[key, 'plain_http']]);
      }
      for (const url of ['http://localhost:1', 'http://127.8.0.1', 'http://[::1]:1', 'https://x.example']) {
        expect(provider({ ...exchange, [key]: url })).toEqual([]);
      }
      expect(provider({ ...exchange, [key]: 'ftp://sso.example' })).toEqual([[key, 'url']]);
    }
    expect(provider({ ...entra, authority: 'http://login.example/t' })).toEqual([
      ['authority', 'plain_http'],
    ]);
  });

  test('variables are filled in wherever a text stands', () => {
    const env = { S: 'a', O: 'https://s.example', P: 'v' };
    const targets = [{ scopes: ['${S}'], origins: ['${O}'] }];
    const text = JSON.stringify({
      identityProviders: { p: { ...exchange, targets, parameters: { x: '${P}' } } },
    });
    const result = loadSettings(text, { env });
    expect(result.ok && result.settings.identityProviders[0]).toMatchObject({
      name: 'p',
      parameters: { x: 'v' },
      targets: [{ scopes: ['a'], origins: ['https://s.example'] }],
    });
    expect(provider({ ...exchange, targets: [{ scopes: ['a'], origins: ['https://s.example/x'] }] })).toEqual(
      [['targets[0].origins[0]', 'origin']],
    );
  });
});
