import { describe, expect, test } from '@jest/globals';
import { collectPlaceholders } from './compile/compileServer.ts';
import { findingCodes, httpServer, loadServer, serverFindings } from '../test/serverDiagnostics.ts';
import { loadSettings } from './loadSettings.ts';

describe('texts', () => {
  test('only declared variables may be named, and reserved names cannot be declared', () => {
    const declare = (name: string) => ({ customUserVars: { [name]: { title: 't', description: 'd' } } });
    expect(serverFindings({ ...httpServer, headers: { A: '{{TOKEN}}' } })).toEqual([
      ['headers.A', 'variable_undeclared'],
    ]);
    expect(serverFindings({ ...httpServer, headers: { A: '{{TOKEN}}' }, ...declare('TOKEN') })).toEqual([]);
    for (const name of ['LIBRECHAT_USER_ID', 'librechat_x', '1A', 'a-b', '']) {
      expect(serverFindings({ ...httpServer, ...declare(name) }).map(([, code]) => code)).toEqual([
        'invalid_name',
      ]);
    }
  });

  test('an unset variable is an error that names field and variable', () => {
    const result = loadSettings(
      JSON.stringify({ mcpServers: { s: { ...httpServer, headers: { A: 'Bearer ${S_KEY}' } } } }),
      { env: {} },
    );
    expect(result).toEqual({
      ok: false,
      diagnostics: [
        {
          path: 'mcpServers.s.headers.A',
          code: 'variable_unset',
          message: 'the environment variable S_KEY is not set',
          suggestion: 'set it, or write ${S_KEY:-default}',
          line: 1,
        },
      ],
    });
  });

  test('a secret of the gateway is refused wherever variables are expanded', () => {
    const secret = '${CREDS_KEY}';
    const env = { CREDS_KEY: 'planted' };
    const refused = (path: string, definition: Record<string, unknown>) =>
      expect(serverFindings(definition, env)).toEqual([[path, 'variable_secret']]);
    refused('headers.A', { ...httpServer, headers: { A: secret } });
    refused('oauth_headers.A', { ...httpServer, oauth_headers: { A: secret } });
    refused('url', { ...httpServer, url: `https://s.example/${secret}` });
    refused('proxy', { ...httpServer, proxy: secret });
    refused('apiKey.key', {
      ...httpServer,
      apiKey: { source: 'admin', authorization_type: 'bearer', key: secret },
    });
    refused('oauth.scope', { ...httpServer, oauth: { scope: secret } });
    refused('obo.scopes', { ...httpServer, obo: { scopes: secret } });
    refused('command', { command: secret });
    refused('args[0]', { command: 'x', args: [secret] });
    refused('env.A', { command: 'x', env: { A: secret } });
    refused('cwd', { command: 'x', cwd: secret });
    expect(
      findingCodes({ identityProviders: { p: { type: 'entra', clientId: 'c', clientSecret: secret } } }, env),
    ).toEqual([['identityProviders.p.clientSecret', 'variable_secret']]);
    expect(
      findingCodes(
        { endpoints: { custom: [{ name: 'm', baseURL: 'https://m.example', apiKey: secret }] } },
        env,
      ),
    ).toEqual([['endpoints.custom[0].apiKey', 'variable_secret']]);
  });

  test('program, directory and proxy are never chosen by user data', () => {
    for (const field of ['command', 'cwd']) {
      expect(serverFindings({ command: 'x', [field]: '/x/{{LIBRECHAT_USER_ID}}' })).toEqual([
        [field, 'placeholder_forbidden'],
      ]);
    }
    expect(serverFindings({ ...httpServer, proxy: 'http://{{LIBRECHAT_USER_ID}}.p.example' })).toEqual([
      ['proxy', 'placeholder_forbidden'],
    ]);
    expect(loadServer({ command: '${BIN}/x', cwd: '${BIN}' }, { BIN: '/opt' }).server).toMatchObject({
      command: '/opt/x',
      cwd: '/opt',
    });
  });

  test('a placeholder may be a whole label of the host or stand behind it, nothing else', () => {
    const id = '{{LIBRECHAT_USER_ID}}';
    for (const url of [
      id,
      `${id}://s.example`,
      `https://a${id}.example`,
      `https://${id}a.example`,
      `https://s.example:${id}/`,
      `https://x@${id}`,
      `https://s.example${id}/`,
      `https://${id}${id}.example/`,
    ]) {
      const found = serverFindings({ ...httpServer, url });
      expect([
        url,
        found.length > 0 &&
          found.every(([path, code]) => path === 'url' && (code === 'url_authority' || code === 'url')),
      ]).toEqual([url, true]);
    }
    for (const url of [
      `https://${id}.s.example/mcp`,
      `https://s.example/${id}`,
      `https://s.example?u=${id}`,
      `https://${id}/mcp`,
    ]) {
      expect([url, serverFindings({ ...httpServer, url })]).toEqual([url, []]);
    }
  });

  test('the same holds for the endpoints of oauth', () => {
    const id = '{{LIBRECHAT_USER_ID}}';
    for (const field of ['authorization_url', 'token_url', 'revocation_endpoint']) {
      for (const url of [
        `https://a${id}.example/`,
        `https://s.example${id}/`,
        `https://${id}${id}.example/`,
      ]) {
        expect([url, serverFindings({ ...httpServer, oauth: { [field]: url } })]).toEqual([
          url,
          [[`oauth.${field}`, 'url_authority']],
        ]);
      }
      expect(
        serverFindings({ ...httpServer, oauth: { [field]: `https://${id}.s.example/t?u=${id}` } }),
      ).toEqual([]);
    }
  });

  test('a garbled placeholder is told with its field', () => {
    expect(
      serverFindings({ ...httpServer, headers: { A: 'Bearer ${TOKEN:-${OTHER}}' } }, { OTHER: 'x' }),
    ).toEqual([['headers.A', 'template_malformed']]);
    expect(serverFindings({ ...httpServer, url: 'https://s.example/{{LIBRECHAT_USER_ID}' })).toEqual([
      ['url', 'template_malformed'],
    ]);
    expect(serverFindings({ command: 'x', args: ['--config', '{"a":{"b":1}}', '$5'] })).toEqual([]);
  });

  test('what decides the scope is found in every field, and only in what the file says', () => {
    const kinds = (definition: Record<string, unknown>, env: Record<string, string> = {}) =>
      collectPlaceholders(loadServer(definition, env).server).map(({ kind, name }) => `${kind}:${name}`);
    expect(
      kinds({
        ...httpServer,
        apiKey: { source: 'admin', authorization_type: 'bearer', key: '{{LIBRECHAT_OPENID_TOKEN}}' },
      }),
    ).toEqual(['openid:TOKEN']);
    expect(kinds({ ...httpServer, oauth_headers: { A: '{{LIBRECHAT_BODY_MESSAGEID}}' } })).toEqual([
      'body:MESSAGEID',
    ]);
    expect(
      kinds({ ...httpServer, oauth: { scope: '{{LIBRECHAT_USER_ROLE}}', grant_types_supported: ['a'] } }),
    ).toEqual(['user:ROLE']);
    for (const field of ['authorization_url', 'token_url', 'revocation_endpoint', 'client_id', 'audience']) {
      const text = 'https://s.example/{{LIBRECHAT_USER_ID}}';
      expect([field, kinds({ ...httpServer, oauth: { [field]: text } })]).toEqual([field, ['user:ID']]);
    }
    expect(
      kinds({
        command: 'x',
        args: ['{{LIBRECHAT_USER_ID}}'],
        env: { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' },
      }),
    ).toEqual(['user:ID', 'graph:ACCESS_TOKEN']);
    expect(kinds({ ...httpServer, headers: { A: '${A}' } }, { A: '{{LIBRECHAT_USER_ID}}' })).toEqual([]);
  });
});

describe('mcpSettings', () => {
  test('host:port with a port and nothing else; domains with optional scheme and port', () => {
    for (const address of [
      '10.0.0.1',
      'http://h:1',
      'h:1/x',
      '10.0.0.0/8:1',
      'h: 1',
      'h:0',
      'h:70000',
      '::1:80',
      '*.h:80',
      'u@h:80',
      'a..b:80',
      'h..:80',
      '[1::2::3]:80',
      '10.0.0.256:80',
      '',
    ]) {
      for (const key of ['allowedAddresses', 'operatorAddresses']) {
        expect([address, findingCodes({ mcpSettings: { [key]: [address] } })]).toEqual([
          address,
          [[`mcpSettings.${key}[0]`, 'wrong_value']],
        ]);
      }
    }
    expect(
      findingCodes({
        mcpSettings: { allowedAddresses: ['10.0.0.1:80', 'h:1', '[::1]:80', 'a.b.internal:65535'] },
      }),
    ).toEqual([]);
    expect(
      findingCodes({
        mcpSettings: {
          allowedDomains: [
            'h.example',
            '*.h.example',
            'https://h.example:443',
            'http://*.h.example',
            '10.0.0.1',
            'wss://h.example',
            'ws://[2606:4700::1]:8080/',
            '*.www.h.example',
          ],
        },
      }),
    ).toEqual([]);
    for (const domain of [
      'h.example/path',
      'h h',
      '*',
      'h.example:',
      '*.',
      '10.0.0.0/8',
      'ftp://h.example',
      'foo://h.example',
      'httpss://h.example',
      'h.example:0',
      'h.example:65536',
      'h.example:99999',
      'a..b',
      'https://h.example..',
      '[::g]',
    ]) {
      expect([domain, findingCodes({ mcpSettings: { allowedDomains: [domain] } })]).toEqual([
        domain,
        [['mcpSettings.allowedDomains[0]', 'wrong_value']],
      ]);
    }
  });
});
