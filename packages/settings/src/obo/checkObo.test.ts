import { describe, expect, test } from '@jest/globals';
import { findingCodes, httpServer, loadServer } from '../../test/serverDiagnostics.ts';

const signIn = {
  OPENID_ISSUER: 'https://sso.example',
  OPENID_CLIENT_ID: 'behalf',
  OPENID_CLIENT_SECRET: 's',
};
const microsoft = { ...signIn, OPENID_ISSUER: 'https://login.microsoftonline.com/tenant/v2.0' };
const targets = [{ scopes: ['a', 'b'], origins: ['https://s.example', 'http://inner.example:8080'] }];
const exchange = { type: 'token-exchange', issuer: 'https://sso.example', clientId: 'c', clientSecret: 's' };

const file = (obo: object, identityProviders: object = {}, url = httpServer.url) => ({
  mcpServers: { s: { ...httpServer, url, obo: { scopes: 'a', ...obo } } },
  identityProviders,
});

describe('On-Behalf-Of in the file', () => {
  test('a server that names no provider is held to the entry `login`', () => {
    const login = { ...exchange, targets };
    expect(findingCodes(file({}, { login }))).toEqual([]);
    expect(findingCodes(file({ scopes: 'c' }, { login }))).toEqual([['mcpServers.s.obo', 'obo_target']]);
    expect(findingCodes(file({}, { login }, 'https://other.example'), signIn)).toEqual([
      ['mcpServers.s.obo', 'obo_target'],
    ]);
    // Another provider's list says nothing about it.
    expect(findingCodes(file({ scopes: 'c' }, { other: login }), signIn)).toEqual([]);
  });

  test('without any provider it stays, with a warning', () => {
    const listDiagnostics = (env: Record<string, string>) =>
      loadServer({ ...httpServer, obo: { scopes: 'a' } }, env).warnings.map(({ path, code }) => [path, code]);
    expect(listDiagnostics({})).toEqual([['mcpServers.s.obo', 'obo_login']]);
    expect(listDiagnostics({ OPENID_ISSUER: ' ', OPENID_CLIENT_ID: 'c' })).toEqual([
      ['mcpServers.s.obo', 'obo_login'],
    ]);
    // Bearer tokens alone: there is no client that could exchange them.
    expect(listDiagnostics({ OPENID_ISSUER: 'https://sso.example' })).toEqual([
      ['mcpServers.s.obo', 'obo_login'],
    ]);
    expect(listDiagnostics(signIn)).toEqual([]);
  });

  test('Entra takes neither another grant nor an audience', () => {
    const entra = { type: 'entra', authority: 'https://127.0.0.1/t', clientId: 'c', clientSecret: 's' };
    for (const [key, value] of [
      ['grant', 'token-exchange'],
      ['grant', 'jwt-bearer'],
      ['audience', 'x'],
      ['resource', 'x'],
    ] as const) {
      const found = [[`mcpServers.s.obo.${key}`, 'obo_entra']];
      expect(findingCodes(file({ provider: 'p', [key]: value }, { p: entra }))).toEqual(found);
      expect(findingCodes(file({ [key]: value }, { login: entra }))).toEqual(found);
      expect(findingCodes(file({ [key]: value }), microsoft)).toEqual(found);
      expect(findingCodes(file({ [key]: value }), signIn)).toEqual([]);
    }
  });

  test('no exchanged token is sent where everybody on the way could read it', () => {
    const plain = [['mcpServers.s.url', 'plain_http']];
    for (const url of ['http://s.example/mcp', 'http://10.0.0.1', 'http://localhost.evil.example']) {
      expect(findingCodes(file({}, {}, url), signIn)).toEqual(plain);
      expect(findingCodes(file({ provider: 'p' }, { p: exchange }, url))).toEqual(plain);
    }
    for (const url of ['http://localhost:1/mcp', 'http://127.0.0.9/mcp', 'http://[::1]/mcp']) {
      expect(findingCodes(file({}, {}, url), signIn)).toEqual([]);
    }
    // The operator's word for a network of their own.
    const p = { ...exchange, targets };
    expect(findingCodes(file({ provider: 'p' }, { p }, 'http://inner.example:8080/mcp'))).toEqual([]);
    expect(findingCodes(file({ provider: 'p' }, { p }, 'http://inner.example/mcp'))).toEqual([
      ['mcpServers.s.obo', 'obo_target'],
    ]);
    expect(findingCodes(file({ provider: 'p' }, { p }, 'http://s.example/mcp'))).toEqual([
      ['mcpServers.s.obo', 'obo_target'],
    ]);
  });

  test('the token behind the placeholder is held to the same', () => {
    const graph = 'https://graph.microsoft.com/.default';
    const token = 'Bearer {{LIBRECHAT_GRAPH_ACCESS_TOKEN}}';
    const apiKey = { source: 'admin', authorization_type: 'bearer', key: token };
    const listDiagnostics = (
      definition: object,
      identityProviders: object = {},
      env: Record<string, string> = signIn,
    ) => findingCodes({ mcpServers: { s: { ...httpServer, ...definition } }, identityProviders }, env);
    const list = (scopes: string, origin: string) => ({
      login: { ...exchange, targets: [{ scopes: [scopes], origins: [origin] }] },
    });
    for (const [carried, place] of [
      [{ headers: { A: token } }, 'headers.A'],
      [{ apiKey }, 'apiKey.key'],
    ] as const) {
      const plain = { ...carried, url: 'http://s.example/mcp' };
      expect(listDiagnostics(carried)).toEqual([]);
      expect(listDiagnostics({ ...carried, url: 'http://127.0.0.1:1/mcp' })).toEqual([]);
      expect(listDiagnostics(plain)).toEqual([['mcpServers.s.url', 'plain_http']]);
      expect(listDiagnostics(plain, list(graph, 'http://s.example'))).toEqual([]);
      expect(listDiagnostics(carried, list(graph, 'https://s.example'))).toEqual([]);
      const target = [[`mcpServers.s.${place}`, 'obo_target']];
      expect(listDiagnostics(carried, list(graph, 'https://other.example'))).toEqual(target);
      expect(listDiagnostics(carried, list('api://x/y', 'https://s.example'))).toEqual(target);
      // What it is asked for with is a setting, and blank is none.
      const env = (GRAPH_API_SCOPES: string) => ({ ...signIn, GRAPH_API_SCOPES });
      expect(listDiagnostics(carried, list('api://x/y', 'https://s.example'), env('api://x/y'))).toEqual([]);
      expect(listDiagnostics(carried, list(graph, 'https://s.example'), env('api://x/y'))).toEqual(target);
      expect(listDiagnostics(carried, list(graph, 'https://s.example'), env(' '))).toEqual([]);
      for (const name of ['LIBRECHAT_USER_ID', 'LIBRECHAT_OPENID_USER_ID', 'LIBRECHAT_BODY_MESSAGEID']) {
        const url = `https://s.example/{{${name}}}`;
        expect(listDiagnostics({ ...carried, url })).toEqual([['mcpServers.s.url', 'obo_url']]);
      }
      // Beside obo, both are asked about.
      const both = { ...exchange, targets: [{ scopes: ['a'], origins: ['https://s.example'] }] };
      const obo = { scopes: 'a', provider: 'p' };
      if ('headers' in carried) expect(listDiagnostics({ ...carried, obo }, { p: both })).toEqual([]);
      if ('headers' in carried)
        expect(listDiagnostics({ ...carried, obo }, { login: both, p: both })).toEqual(target);
    }
    const socket = { type: 'websocket', headers: { A: token } };
    expect(listDiagnostics({ ...socket, url: 'ws://s.example' })).toEqual([
      ['mcpServers.s.url', 'plain_http'],
    ]);
    expect(listDiagnostics({ ...socket, url: 'wss://s.example' })).toEqual([]);
    const waiting = loadServer({ ...httpServer, headers: { A: token } }).warnings;
    expect(waiting).toMatchObject([{ path: 'mcpServers.s.headers.A', code: 'obo_login' }]);
  });

  test('scopes that a variable leaves empty match nothing', () => {
    const env = { S: ' ' };
    expect(
      findingCodes(file({ scopes: '${S}', provider: 'p' }, { p: { ...exchange, targets } }), env),
    ).toEqual([['mcpServers.s.obo.scopes', 'missing']]);
  });

  test('a token of the user stands in headers, never in an address', () => {
    for (const name of [
      'LIBRECHAT_OPENID_ACCESS_TOKEN',
      'LIBRECHAT_OPENID_ID_TOKEN',
      'LIBRECHAT_OPENID_TOKEN',
      'LIBRECHAT_GRAPH_ACCESS_TOKEN',
    ]) {
      const token = `{{${name}}}`;
      const s = (definition: object) => findingCodes({ mcpServers: { s: { ...httpServer, ...definition } } });
      expect(s({ url: `https://s.example/?t=${token}` })).toEqual([
        ['mcpServers.s.url', 'placeholder_token'],
      ]);
      expect(s({ oauth: { token_url: `https://s.example/${token}` } })).toEqual([
        ['mcpServers.s.oauth.token_url', 'placeholder_token'],
      ]);
      expect(s({ oauth: { scope: token } })).toEqual([['mcpServers.s.oauth.scope', 'placeholder_token']]);
      expect(s({ oauth_headers: { A: token } })).toEqual([
        ['mcpServers.s.oauth_headers.A', 'placeholder_token'],
      ]);
      expect(findingCodes({ mcpServers: { s: { command: 'x', args: [token] } } })).toEqual([
        ['mcpServers.s.args[0]', 'placeholder_token'],
      ]);
      expect(s({ headers: { Authorization: `Bearer ${token}` } })).toEqual([]);
    }
    const url = 'https://s.example/{{LIBRECHAT_OPENID_USER_ID}}';
    expect(findingCodes({ mcpServers: { s: { ...httpServer, url } } })).toEqual([]);
  });
});
