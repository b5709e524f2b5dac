import { describe, expect, test } from '@jest/globals';
import { reservedHeaders } from '@behalf/contracts';
import { findingCodes, httpServer, loadServer, serverFindings } from '../test/serverDiagnostics.ts';
import { compileDefinition } from './buildSettings.ts';
import { loadSettings } from './loadSettings.ts';

const obo = { scopes: 'api://s/.default' };

describe('sign-in over a websocket', () => {
  const socket = { type: 'websocket', url: 'wss://s.example/mcp' };
  test('is refused, naming what asks for it', () => {
    const code = 'websocket_oauth';
    expect(serverFindings({ ...socket, oauth: { client_id: 'c' } })).toEqual([['oauth', code]]);
    expect(serverFindings({ ...socket, requiresOAuth: true })).toEqual([['requiresOAuth', code]]);
    for (const auth of ['required', 'optional']) {
      expect([auth, serverFindings({ ...socket, auth })]).toEqual([auth, [['auth', code]]]);
    }
    const grant = {
      grant: 'client_credentials',
      client_id: 'c',
      client_secret: 's',
      issuer: 'https://a.example',
    };
    expect(serverFindings({ ...socket, oauth: grant })).toEqual([['oauth', code]]);
  });

  test('keys and open servers are not', () => {
    for (const more of [{}, { requiresOAuth: false }, { auth: 'none' }]) {
      expect(serverFindings({ ...socket, ...more })).toEqual([]);
    }
    const customUserVars = { KEY: { title: 'Key', description: 'A key' } };
    expect(
      serverFindings({ ...socket, customUserVars, auth: 'required', headers: { 'X-Key': '{{KEY}}' } }),
    ).toEqual([]);
  });
});

describe('names', () => {
  test('characters and words that routes and URLs cannot hold', () => {
    for (const name of [
      'a/b',
      'a\\b',
      'a?b',
      'a#b',
      'a%b',
      'a\u0007',
      'tools',
      'servers',
      'connection',
      'oauth',
      'auth-values',
      'reinitialize',
      '..',
      ' a',
      '日本',
    ]) {
      expect([name, findingCodes({ mcpServers: { [name]: httpServer } }).map(([, code]) => code)]).toEqual([
        name,
        ['server_name'],
      ]);
    }
    for (const name of ['a b', 'a.b', 'My Server', 'x-1', 'Tools'])
      expect(findingCodes({ mcpServers: { [name]: httpServer } })).toEqual([]);
  });

  test('two names with one normalised form are refused, naming both', () => {
    const result = loadSettings(
      JSON.stringify({ mcpServers: { 'my server': httpServer, my_server: httpServer } }),
      {
        env: {},
      },
    );
    expect(result).toMatchObject({
      ok: false,
      diagnostics: [
        {
          path: 'mcpServers.my_server',
          code: 'server_name_taken',
          message: '"my_server" and "my server" both become "my_server" in tool names',
        },
      ],
    });
    expect(findingCodes({ mcpServers: { _a_: httpServer, a: httpServer } })).toEqual([
      ['mcpServers.a', 'server_name_taken'],
    ]);
  });
});

describe('transports', () => {
  test('type decides; without it the choice is the one an existing file relies on', () => {
    expect(loadServer({ command: 'x' }).server).toMatchObject({ type: 'stdio', args: [] });
    expect(loadServer({ url: 'ws://s.example' }).server.type).toBe('websocket');
    expect(loadServer({ url: '${U}' }, { U: 'WSS://s.example' }).server.type).toBe('websocket');
    expect(loadServer({ type: 'http', url: 'https://s.example' }).server.type).toBe('streamable-http');
    const bare = loadServer({ url: 'https://s.example' });
    expect(bare.server.type).toBe('sse');
    expect(bare.warnings.map(({ code }) => code)).toEqual(['type_inferred']);
    expect(loadServer({ type: 'sse', url: 'https://s.example' }).warnings).toEqual([]);
  });

  test('fields of a process next to a url, and a transport that does not fit its url', () => {
    expect(serverFindings({ ...httpServer, command: 'x', args: [] })).toEqual([
      ['command', 'process_field_with_url'],
      ['args', 'process_field_with_url'],
    ]);
    expect(serverFindings({ url: 'https://s.example', env: {} })).toEqual([
      ['env', 'process_field_with_url'],
    ]);
    expect(serverFindings({ type: 'stdio', url: 'https://s.example' })).toEqual([['url', 'url_on_stdio']]);
    expect(serverFindings({ type: 'sse', command: 'x' })).toEqual([['command', 'process_field_with_url']]);
    expect(serverFindings({ type: 'sse', url: 'wss://s.example' })).toEqual([['url', 'url']]);
    expect(serverFindings({ type: 'websocket', url: 'https://s.example' })).toEqual([['url', 'url']]);
    expect(serverFindings({})).toEqual([['', 'missing']]);
    expect(serverFindings({ type: 'streamable-htpp', url: 'https://s.example' })).toEqual([
      ['type', 'wrong_value'],
    ]);
    expect(serverFindings({ command: 'x', headers: {} })).toEqual([['headers', 'misplaced_key']]);
    expect(serverFindings({ type: 'websocket', url: 'wss://s.example', proxy: 'http://p.example' })).toEqual([
      ['proxy', 'misplaced_key'],
    ]);
  });

  test('urls of other schemes, without host or with a password', () => {
    for (const url of [
      'file:///etc/passwd',
      'ftp://s.example',
      'javascript:alert(1)',
      's.example',
      'https://',
      'https://u:p@s.example',
    ]) {
      expect([url, serverFindings({ ...httpServer, url })]).toEqual([url, [['url', 'url']]]);
    }
    expect(serverFindings({ ...httpServer, proxy: 'ftp://p.example' })).toEqual([['proxy', 'url']]);
    for (const proxy of [
      'http://u:p@p.example:8080',
      'https://p.example',
      'socks://p.example:1',
      'socks5://p.example:1',
    ]) {
      expect(serverFindings({ ...httpServer, proxy })).toEqual([]);
    }
  });

  test('a timeout of zero is an error, not an immediate timeout', () => {
    for (const field of ['timeout', 'initTimeout', 'sseReadTimeout']) {
      for (const value of [0, -1, 1.5, 3_000_000_000]) {
        expect(serverFindings({ ...httpServer, [field]: value })).toEqual([
          [field, expect.stringMatching(/too_small|too_big|wrong_type/)],
        ]);
      }
      expect(serverFindings({ ...httpServer, [field]: 1 })).toEqual([]);
    }
  });

  test('titles of any script, icons that cannot run anything', () => {
    for (const title of ['Documentación', '日本語', 'e\u0301te', "L'équipe", 'L’équipe', '3D tools', 'a-b'])
      expect(serverFindings({ ...httpServer, title })).toEqual([]);
    for (const title of ['-x', '<b>', 'a;b', ' a', ''])
      expect(serverFindings({ ...httpServer, title })).toEqual([['title', 'wrong_value']]);
    for (const iconPath of [
      'https://i.example/x.png',
      'data:image/svg+xml,x',
      '/assets/x.svg',
      'assets/x.svg',
    ])
      expect(serverFindings({ ...httpServer, iconPath })).toEqual([]);
    for (const iconPath of ['javascript:alert(1)', 'data:text/html,x', '//evil.example/x', 'file:///x']) {
      expect(serverFindings({ ...httpServer, iconPath })).toEqual([['iconPath', 'wrong_value']]);
    }
  });
});

describe('credentials', () => {
  test('On-Behalf-Of next to oauth, apiKey or an authorization header of any case', () => {
    expect(serverFindings({ ...httpServer, obo })).toEqual([]);
    expect(serverFindings({ ...httpServer, type: 'sse', obo })).toEqual([]);
    expect(serverFindings({ ...httpServer, obo, oauth: {} })).toEqual([['oauth', 'obo_conflict']]);
    expect(
      serverFindings({ ...httpServer, obo, apiKey: { source: 'user', authorization_type: 'bearer' } }),
    ).toEqual([['apiKey', 'obo_conflict']]);
    for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
      expect(serverFindings({ ...httpServer, obo, headers: { [name]: 'Bearer x' } })).toEqual([
        [`headers.${name}`, 'obo_conflict'],
      ]);
    }
    const env = { OPENID_ISSUER: 'https://sso.example', OPENID_CLIENT_ID: 'c' };
    expect(
      loadServer({ ...httpServer, obo, requiresOAuth: true }, env).warnings.map(({ code }) => code),
    ).toEqual(['obo_wins']);
  });

  test('scopes are required; keys of ours are read; ${NAME} works and {{...}} does not', () => {
    expect(serverFindings({ ...httpServer, obo: {} })).toEqual([['obo.scopes', 'missing']]);
    expect(serverFindings({ ...httpServer, obo: { scopes: ' ' } })).toEqual([['obo.scopes', 'wrong_value']]);
    expect(serverFindings({ ...httpServer, obo: { scopes: '{{LIBRECHAT_USER_ID}}' } })).toEqual([
      ['obo.scopes', 'placeholder_forbidden'],
    ]);
    expect(
      loadServer({ ...httpServer, obo: { scopes: '${S}', grant: 'token-exchange' } }, { S: 'a b' }).server,
    ).toMatchObject({ obo: { scopes: 'a b', grant: 'token-exchange' } });
    expect(serverFindings({ ...httpServer, obo: { ...obo, provider: 'corprate' } })).toEqual([
      ['obo.provider', 'provider_unknown'],
    ]);
  });

  test('the address a user’s token goes to holds no placeholder and is one of the targets', () => {
    for (const placeholder of [
      'LIBRECHAT_USER_ID',
      'LIBRECHAT_OPENID_USER_ID',
      'LIBRECHAT_BODY_MESSAGEID',
      'K',
    ]) {
      const customUserVars = { K: { title: 't', description: 'd' } };
      const definition = { ...httpServer, url: `https://s.example/{{${placeholder}}}`, obo, customUserVars };
      expect(serverFindings(definition)).toEqual([['url', 'obo_url']]);
      // Nor in a definition that does not stand in the file.
      expect(compileDefinition('s', definition, { env: {} })).toMatchObject({
        ok: false,
        errors: [{ code: 'obo_url' }],
      });
    }
    const config = (scopes: string, url: string) => ({
      mcpServers: { s: { type: 'http', url, obo: { scopes, provider: 'p' } } },
      identityProviders: {
        p: {
          ...{ type: 'token-exchange', issuer: 'https://sso.example', clientId: 'c' },
          targets: [{ scopes: ['a', 'b'], origins: ['https://s.example'] }],
        },
      },
    });
    expect(findingCodes(config('b a', 'https://s.example:443/mcp'))).toEqual([]);
    for (const [scopes, url] of [
      ['a c', 'https://s.example'],
      ['a', 'https://s.example.evil.example'],
      ['a', 'http://s.example'],
      ['a', 'https://s.example:444'],
    ] as const) {
      expect(findingCodes(config(scopes, url))).toEqual([['mcpServers.s.obo', 'obo_target']]);
    }
  });

  test('a secret needs an id, and both need their endpoints', () => {
    const urls = { authorization_url: 'https://a.example/a', token_url: 'https://a.example/t' };
    expect(serverFindings({ ...httpServer, oauth: { client_secret: 'x' } })).toEqual([
      ['oauth.client_secret', 'oauth_client'],
    ]);
    expect(serverFindings({ ...httpServer, oauth: { client_id: 'x', client_secret: 'y' } })).toEqual([
      ['oauth', 'oauth_client'],
      ['oauth', 'oauth_client'],
    ]);
    expect(
      serverFindings({
        ...httpServer,
        oauth: { client_id: 'x', client_secret: 'y', authorization_url: urls.authorization_url },
      }),
    ).toEqual([['oauth', 'oauth_client']]);
    expect(serverFindings({ ...httpServer, oauth: { client_id: 'x', client_secret: 'y', ...urls } })).toEqual(
      [],
    );
    expect(serverFindings({ ...httpServer, oauth: { client_id: 'x' } })).toEqual([]);
    expect(serverFindings({ ...httpServer, oauth: { audience: '' } })).toEqual([
      ['oauth.audience', 'too_small'],
    ]);
    expect(serverFindings({ ...httpServer, oauth: { token_url: '${T}' } }, { T: 'nowhere' })).toEqual([
      ['oauth.token_url', 'url'],
    ]);
    expect(serverFindings({ ...httpServer, oauth: { code_challenge_methods_supported: ['plain'] } })).toEqual(
      [['oauth.code_challenge_methods_supported', 'pkce']],
    );
  });

  test('a key of the operator must be there, and its header must be one', () => {
    const admin = { source: 'admin', authorization_type: 'custom', key: 'k' };
    expect(serverFindings({ ...httpServer, apiKey: admin })).toEqual([]);
    expect(
      serverFindings({ ...httpServer, apiKey: { source: 'admin', authorization_type: 'bearer' } }),
    ).toEqual([['apiKey.key', 'missing']]);
    expect(
      serverFindings({ ...httpServer, apiKey: { source: 'user', authorization_type: 'bearer', key: 'k' } }),
    ).toEqual([['apiKey.key', 'api_key_source']]);
    for (const name of ['Transfer-Encoding', 'mcp-session-id', 'a b', 'Host', 'x\n']) {
      expect(serverFindings({ ...httpServer, apiKey: { ...admin, custom_header: name } })).toEqual([
        ['apiKey.custom_header', 'header_name'],
      ]);
    }
    expect(
      serverFindings({
        ...httpServer,
        apiKey: { source: 'user', authorization_type: 'bearer' },
        headers: { 'X-Key': '{{MCP_API_KEY}}' },
      }),
    ).toEqual([]);
  });

  test('names that break requests, twins, and values with line breaks', () => {
    for (const name of ['Connection', 'content-length', 'Mcp-Session-Id', 'a:b', ...reservedHeaders]) {
      expect(serverFindings({ ...httpServer, headers: { [name]: 'x' } }).map(([, code]) => code)).toEqual([
        'header_name',
      ]);
      const custom = [{ name: 'm', baseURL: 'https://m.example', headers: { [name]: 'x' } }];
      expect(findingCodes({ endpoints: { custom } }).map(([, code]) => code)).toEqual(['header_name']);
    }
    expect(serverFindings({ ...httpServer, headers: { 'X-A': '1', 'x-a': '2' } })).toEqual([
      ['headers.x-a', 'header_twice'],
    ]);
    expect(serverFindings({ ...httpServer, headers: { 'X-A': 'a\r\nX-Evil: 1' } })).toEqual([
      ['headers.X-A', 'header_value'],
    ]);
    expect(serverFindings({ ...httpServer, headers: { 'X-A': '${A}' } }, { A: 'a\nb' })).toEqual([
      ['headers.X-A', 'header_value'],
    ]);
  });
});
