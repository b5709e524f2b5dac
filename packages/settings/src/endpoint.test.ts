import { describe, expect, test } from '@jest/globals';
import { findingCodes, httpServer } from '../test/serverDiagnostics.ts';
import { loadSettings } from './loadSettings.ts';

const mcpServers = { files: httpServer, github: httpServer, 'my files': httpServer };

function found(endpoint: object) {
  return findingCodes({ mcpServers, mcpSettings: { endpoint } });
}

function diagnosticsOf(endpoint: object) {
  const result = loadSettings(JSON.stringify({ mcpServers, mcpSettings: { endpoint } }), { env: {} });
  return result.ok ? [] : result.diagnostics.map(({ message, suggestion }) => `${message}; ${suggestion}`);
}

describe('mcpSettings.endpoint', () => {
  const at = 'mcpSettings.endpoint';

  test('the list, the keys and the names chosen by hand', () => {
    expect(found({})).toEqual([]);
    expect(
      found({
        ...{ names: 'priority', priority: ['github', 'my files'] },
        servers: {
          files: { key: 'github2', tools: { 'a.b': 'ab', look: 'look' }, prompts: { look: 'look' } },
          'my files': { key: 'mine' },
        },
      }),
    ).toEqual([]);
    // A key is free when its server has another.
    expect(found({ servers: { files: { key: 'f' }, github: { key: 'files' } } })).toEqual([]);

    expect(found({ names: 'priority' })).toEqual([[`${at}.priority`, 'endpoint_names']]);
    expect(found({ priority: ['files'] })).toEqual([[`${at}.priority`, 'endpoint_names']]);
    expect(found({ names: 'first' })).toEqual([[`${at}.names`, 'wrong_value']]);
    expect(found({ names: 'priority', priority: ['files', 'github', 'files'] })).toEqual([
      [`${at}.priority[2]`, 'endpoint_names'],
    ]);
    expect(found({ names: 'priority', priority: ['fils'] })).toEqual([
      [`${at}.priority[0]`, 'unknown_server'],
    ]);
    expect(diagnosticsOf({ names: 'priority', priority: ['fils'] })).toEqual([
      'there is no server "fils" in this file; did you mean "files"?',
    ]);
    expect(diagnosticsOf({ servers: { gitub: {} } })).toEqual([
      'there is no server "gitub" in this file; did you mean "github"?',
    ]);
    expect(diagnosticsOf({ alowedOrigins: [] })).toEqual(['unknown key; did you mean "allowedOrigins"?']);
    for (const key of ['a__b', 'a_', 'a b', 'x'.repeat(25), 'a-0123abcd', 'ä']) {
      expect([key, found({ servers: { files: { key } } })]).toEqual([
        key,
        [[`${at}.servers.files.key`, 'endpoint_key']],
      ]);
    }
    expect(found({ servers: { files: { key: 'github' } } })).toEqual([
      [`${at}.servers.files.key`, 'endpoint_key'],
    ]);
    expect(diagnosticsOf({ servers: { files: { key: 'x' }, github: { key: 'x' } } })).toEqual([
      `"x" is already used by ${at}.servers.files.key; choose another`,
    ]);
    for (const alias of ['a__b', 'a.b', 'a b', 'x'.repeat(65)]) {
      expect([alias, found({ servers: { files: { tools: { look: alias } } } })]).toEqual([
        alias,
        [[`${at}.servers.files.tools.look`, 'endpoint_alias']],
      ]);
    }
    for (const kind of ['tools', 'prompts']) {
      const servers = { files: { [kind]: { a: 'x', b: 'y' } }, github: { [kind]: { c: 'x' } } };
      expect(found({ servers })).toEqual([[`${at}.servers.github.${kind}.c`, 'endpoint_alias']]);
    }
  });

  test('and nothing that could be more than one', () => {
    const allowedOrigins = ['https://app.example', 'https://app.example:8443', 'http://localhost:6274'];
    expect(found({ allowedOrigins })).toEqual([]);
    for (const origin of [
      ...['*', 'null', 'https://*.example', 'app.example', 'https://', 'file:///x', 'chrome-extension://abc'],
      ...[
        'https://app.example/',
        'https://APP.example',
        'https://app.example:443',
        'https://app.example/path',
      ],
      ...[
        'https://user@app.example',
        'https://app.example?x',
        'https://app.example#x',
        ' https://app.example',
      ],
      ...['http://app.example', 'http://localhost.example', 'https://app.example,https://b.example'],
    ]) {
      expect([origin, found({ allowedOrigins: [origin] })]).toEqual([
        origin,
        [[`${at}.allowedOrigins[0]`, 'origin']],
      ]);
    }
    expect(diagnosticsOf({ allowedOrigins: ['https://App.example:443/x'] })).toEqual([
      'is not in the form that browsers send; write https://app.example',
    ]);
  });
});
