import { describe, expect, test } from '@jest/globals';
import { findingCodes } from '../../test/serverDiagnostics.ts';
import { loadSettings } from '../loadSettings.ts';

const found = (section: Record<string, unknown>, env: Record<string, string> = {}) =>
  findingCodes({ authorizationServer: section }, env).map(([path, code]) => [
    path.replace('authorizationServer.', ''),
    code,
  ]);

describe('the section of the authorization server', () => {
  test('says what is wrong with its clients and issuers before anything starts', () => {
    const client = (entry: object) => found({ clients: { c: { name: 'C', ...entry } } });
    expect(client({ redirectUris: ['https://c.example/cb', 'http://127.0.0.1/cb', 'desk://cb'] })).toEqual(
      [],
    );
    expect(client({})).toEqual([['clients.c', 'missing']]);
    for (const uri of ['http://c.example/cb', 'https://c.example/#x', 'nonsense']) {
      expect(client({ redirectUris: [uri] })).toEqual([['clients.c.redirectUris[0]', 'url']]);
    }
    const issuers = (env: Record<string, string>, ...idJagIssuers: string[]) => found({ idJagIssuers }, env);
    const login = { OPENID_ISSUER: 'https://sso.example', OPENID_CLIENT_ID: 'behalf' };
    expect(issuers(login, 'https://sso.example', 'http://127.0.0.1:9000')).toEqual([]);
    expect(issuers({}, 'https://sso.example')).toEqual([['idJagIssuers[0]', 'missing']]);
    expect(issuers(login, 'http://sso.example')).toEqual([['idJagIssuers[0]', 'plain_http']]);
    expect(issuers(login, 'nonsense')).toEqual([['idJagIssuers[0]', 'url']]);
    const tenants = (issuer: string) =>
      found(
        { idJagIssuers: ['https://sso.example', 'https://b.example'], idJagTenants: { [issuer]: 'b' } },
        login,
      ).map(([, code]) => code);
    expect(tenants('https://b.example')).toEqual([]);
    expect(tenants('https://c.example')).toEqual(['unknown_issuer']);
    expect(tenants('https://sso.example')).toEqual(['not_allowed']);
  });

  test('is nothing unless it is enabled, and has limits that were not written', () => {
    const settings = (text: string) => {
      const loaded = loadSettings(text, { env: {} });
      return loaded.ok ? loaded.settings.authorizationServer : loaded.diagnostics;
    };
    expect(settings('{}')).toBeNull();
    expect(settings('authorizationServer: {}')).toBeNull();
    expect(settings('authorizationServer: { enabled: true }')).toEqual({
      ...{ enabled: true, clients: {}, idJagIssuers: [], idJagTenants: {}, replayWindowSeconds: 30 },
      registration: { enabled: true, perMinute: 10, most: 1_000 },
    });
  });
});
