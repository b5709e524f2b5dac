import { describe, expect, test } from '@jest/globals';
import { formatDiagnostics, loadSettings } from '../loadSettings.ts';

const yaml = (approval: string) => `endpoints:\n  agents:\n    toolApproval:\n${approval}`;

function errors(approval: string): string[] {
  const result = loadSettings(yaml(approval), { env: {} });
  return result.ok ? [] : formatDiagnostics(result.diagnostics, 'f').split('\n');
}

function warnings(approval: string) {
  const result = loadSettings(yaml(approval), { env: {} });
  if (!result.ok) throw new Error(formatDiagnostics(result.diagnostics, 'f'));
  return result.warnings.map(({ path, code, line }) => [path, code, line]);
}

const at = 'endpoints.agents.toolApproval';

describe('the rules about tools', () => {
  test('LibreChat’s keys and the roles load as they are written', () => {
    const result = loadSettings(
      yaml(
        "      enabled: true\n      mode: dontAsk\n      deny: ['mcp:*:delete_*', '*']\n" +
          "      roles: { USER: { allow: ['mcp:docs', 'mcp:docs:a:b'], readOnlyOnly: true }, ADMIN: {} }\n",
      ),
      { env: {} },
    );
    expect(result.ok && result.settings.endpoints.toolApproval).toEqual({
      enabled: true,
      mode: 'dontAsk',
      deny: ['mcp:*:delete_*', '*'],
      roles: {
        USER: { allow: ['mcp:docs', 'mcp:docs:a:b'], readOnlyOnly: true },
        ADMIN: { readOnlyOnly: false },
      },
    });
    expect(result).toMatchObject({ ok: true, warnings: [], unused: [] });
  });

  test('a pattern that cannot be read stops the load, with its place', () => {
    const form = 'write mcp:<server>:<tool> or mcp:<server>';
    expect(
      errors(
        "      deny: ['mcp:', 'mcp::x', 'mcp:a:']\n      ask: ['MCP:a:b', 'mcp :a', ' mcp:a']\n" +
          "      roles: { USER: { allow: ['*delete*', 'm*', 'create_*_mcp_github'] } }\n",
      ),
    ).toEqual([
      `f:4  ${at}.deny[0]  names no server; ${form}`,
      `f:4  ${at}.deny[1]  names no server; ${form}`,
      `f:4  ${at}.deny[2]  names no tool; ${form}`,
      `f:5  ${at}.ask[0]  must begin with mcp: in lower case, without a space; ${form}`,
      `f:5  ${at}.ask[1]  must begin with mcp: in lower case, without a space; ${form}`,
      `f:5  ${at}.ask[2]  may not begin or end with a space; ${form}`,
      `f:6  ${at}.roles.USER.allow[0]  is ambiguous: it may or may not match tools of servers; ${form}`,
      `f:6  ${at}.roles.USER.allow[1]  is ambiguous: it may or may not match tools of servers; ${form}`,
      `f:6  ${at}.roles.USER.allow[2]  uses the tool name that models see; ${form}`,
    ]);
  });

  test('a pattern for another kind of tool has no effect, and a warning', () => {
    expect(
      warnings("      deny: ['execute_code', 'mcp:a']\n      roles: { USER: { ask: ['web_*'] } }\n"),
    ).toEqual([
      [`${at}.deny[0]`, 'tool_pattern_ignored', 4],
      [`${at}.roles.USER.ask[0]`, 'tool_pattern_ignored', 5],
    ]);
  });

  test('what would restrict and is not carried out here stops the load', () => {
    expect(errors('      hooks: [{ module: ./mine.js }]\n')).toEqual([
      `f:4  ${at}.hooks  policy modules are not supported; use deny and ask`,
    ]);
    expect(errors('      hooks: []\n')).toEqual([]);
    expect(errors("      denny: ['mcp:a']\n")).toEqual([
      `f:4  ${at}.denny  unknown key; did you mean "deny"?`,
    ]);
    expect(errors('      roles: { USER: { readOnlyOnl: true } }\n')).toEqual([
      `f:4  ${at}.roles.USER.readOnlyOnl  unknown key; did you mean "readOnlyOnly"?`,
    ]);
  });
});

describe('the models', () => {
  const custom = (...entries: string[]) =>
    loadSettings(`endpoints:\n  custom:\n${entries.map((entry) => `    - ${entry}\n`).join('')}`, {
      env: { KEY: 'k', PLACE: 'https://m.example' },
    });

  test('load with their keys from the environment and their headers as templates', () => {
    const result = custom(
      "{ name: A, baseURL: '${PLACE}/v1', apiKey: '${KEY}', headers: { X-User: '{{LIBRECHAT_USER_ID}}' }, models: { default: [a, { name: b }], fetch: true }, addParams: { temperature: 0 }, dropParams: [stop], titleConvo: true }",
    );
    expect(result.ok && result.settings.endpoints.custom).toEqual([
      {
        name: 'A',
        position: 0,
        baseURL: 'https://m.example/v1',
        apiKey: 'k',
        headers: { 'X-User': [{ kind: 'user', name: 'ID' }] },
        models: { default: ['a', { name: 'b' }], fetch: true },
        addParams: { temperature: 0 },
        dropParams: ['stop'],
      },
    ]);
    expect(result).toMatchObject({ unused: ['endpoints.custom.titleConvo'], variables: ['KEY', 'PLACE'] });
  });

  test('that leave their address or key to users are left out, with a warning', () => {
    const result = custom(
      '{ name: A, baseURL: user_provided, apiKey: k }',
      "{ name: B, baseURL: 'https://b.example', apiKey: user_provided }",
      "{ name: C, baseURL: 'https://c.example' }",
    );
    if (!result.ok) throw new Error(formatDiagnostics(result.diagnostics, 'f'));
    expect(result.settings.endpoints.custom.map(({ name, position }) => [name, position])).toEqual([
      ['C', 2],
    ]);
    expect(result.warnings.map(({ path, code }) => [path, code])).toEqual([
      ['endpoints.custom[0].baseURL', 'user_provided'],
      ['endpoints.custom[1].apiKey', 'user_provided'],
    ]);
  });

  test('have an address that no user chooses', () => {
    const result = custom("{ name: A, baseURL: 'https://{{LIBRECHAT_USER_ID}}.example' }");
    expect(result.ok ? [] : result.diagnostics.map(({ path, code }) => [path, code])).toEqual([
      ['endpoints.custom[0].baseURL', 'placeholder_forbidden'],
    ]);
  });
});
