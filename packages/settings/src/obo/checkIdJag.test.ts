import { describe, expect, test } from '@jest/globals';
import { findingCodes, httpServer } from '../../test/serverDiagnostics.ts';

const signIn = {
  OPENID_ISSUER: 'https://sso.example',
  OPENID_CLIENT_ID: 'behalf',
  OPENID_CLIENT_SECRET: 's',
};
const at = { issuer: 'https://auth.wiki.example', clientId: 'behalf-there', clientSecret: '${WIKI_SECRET}' };
const entry = { type: 'id-jag', resourceServers: [at] };

/** What is wrong with a file of one such entry, and with a server that names it. */
function found(
  overrides: object = {},
  obo: object = {},
  name = 'wiki',
  env: Record<string, string> = signIn,
) {
  const file = {
    identityProviders: { [name]: { ...entry, ...overrides } },
    mcpServers: { s: { ...httpServer, obo: { scopes: 'a', provider: name, ...obo } } },
  };
  return findingCodes(file, { WIKI_SECRET: 'w', ...env });
}
const there = (overrides: object) => found({ resourceServers: [{ ...at, ...overrides }] });
const inEntry = (...path: string[]) => ['identityProviders.wiki', ...path].join('.');

describe('a provider of type id-jag', () => {
  test('says who takes its assertions, and who we are there', () => {
    expect(found()).toEqual([]);
    expect(found({ resourceServers: undefined })).toEqual([[inEntry(), 'missing']]);
    expect(found({ resourceServers: [at, at] })).toEqual([
      [`${inEntry('resourceServers')}[1].issuer`, 'duplicate'],
    ]);
    expect(there({ clientSecret: undefined })).toEqual([
      [`${inEntry('resourceServers')}[0]`, 'client_credential'],
    ]);
    expect(there({ clientSecret: undefined, privateKeyFile: 'k.pem' })).toEqual([]);
    expect(there({ privateKeyFile: 'k.pem' })).toEqual([
      [`${inEntry('resourceServers')}[0]`, 'client_credential'],
    ]);
    expect(there({ certificateFile: 'c.pem' })).toEqual([[`${inEntry('resourceServers')}[0]`, 'missing']]);
    expect(there({ clientAuth: 'private_key_jwt' })).toEqual([
      [`${inEntry('resourceServers')}[0].clientAuth`, 'client_credential'],
    ]);
    expect(there({ clientId: undefined }).map(([path]) => path)).toEqual([
      `${inEntry('resourceServers')}[0].clientId`,
    ]);
  });

  test('shows a refresh token to the provider of the sign-in alone', () => {
    const refused = [[inEntry('subject'), 'provider_field']];
    for (const subject of ['refresh_token', 'auto']) {
      expect(found({ subject })).toEqual([]);
      expect(found({ subject, clientId: 'behalf', clientSecret: 's' })).toEqual([]);
      const otherIssuer = { issuer: 'https://other.example', clientId: 'behalf', clientSecret: 's' };
      expect(found({ subject, ...otherIssuer })).toEqual(refused);
      expect(found({ subject, clientId: 'another', clientSecret: 's' })).toEqual(refused);
      expect(found({ subject, tokenEndpoint: 'https://other.example/token', clientId: 'behalf' })).toEqual(
        refused,
      );
    }
    expect(found({ subject: 'id_token', issuer: 'https://other.example', clientId: 'x' })).toEqual([]);
    expect(found({ subject: 'refresh_token', type: 'token-exchange', resourceServers: undefined })).toEqual(
      refused,
    );
  });

  test('sends assertions over https alone', () => {
    expect(there({ issuer: 'http://auth.wiki.example' })).toEqual([
      [`${inEntry('resourceServers')}[0].issuer`, 'plain_http'],
    ]);
    expect(there({ tokenEndpoint: 'http://auth.wiki.example/token' })).toEqual([
      [`${inEntry('resourceServers')}[0].tokenEndpoint`, 'plain_http'],
    ]);
    expect(there({ issuer: 'http://127.0.0.1:9000' })).toEqual([]);
    expect(there({ issuer: 'auth.wiki.example' })).toEqual([
      [`${inEntry('resourceServers')}[0].issuer`, 'url'],
    ]);
  });

  test('has no place for what the exchange says itself', () => {
    for (const key of ['subjectTokenType', 'requestedTokenType', 'actorTokenFile']) {
      expect(found({ [key]: 'x' })).toEqual([[inEntry(key), 'provider_field']]);
    }
    const other = { type: 'token-exchange', resourceServers: [at] };
    expect(findingCodes({ identityProviders: { wiki: other } }, { ...signIn, WIKI_SECRET: 'w' })).toEqual([
      [inEntry('resourceServers'), 'provider_field'],
    ]);
    expect(found({}, { grant: 'jwt-bearer' })).toEqual([['mcpServers.s.obo.grant', 'obo_id_jag']]);
  });

  test('is named by its servers, and is not where everybody is exchanged', () => {
    expect(found({}, {}, 'login')).toEqual([['identityProviders.login.type', 'provider_field']]);
  });

  test('is asked for an assertion for somebody of its list', () => {
    expect(found({}, { audience: at.issuer })).toEqual([]);
    expect(found({}, { audience: 'https://auth.other.example' })).toEqual([
      ['mcpServers.s.obo.audience', 'obo_id_jag'],
    ]);
    const targets = [{ scopes: ['a'], origins: ['https://other.example'] }];
    expect(found({ targets })).toEqual([['mcpServers.s.obo', 'obo_target']]);
  });
});
