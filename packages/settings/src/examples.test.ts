import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { unusedInterfaceKeys, unusedSections } from '@behalf/contracts';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { formatDiagnostics, loadSettings } from './loadSettings.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(root + path, 'utf8');
const env = {
  OPENID_ISSUER: 'https://sso.example.com',
  OPENID_CLIENT_ID: 'behalf',
  OPENID_CLIENT_SECRET: 'secret',
  WIKI_CLIENT_ID: 'wiki',
  WIKI_CLIENT_SECRET: 'secret',
  REPORTS_CLIENT_ID: 'reports',
  REPORTS_CLIENT_SECRET: 'secret',
  INVENTORY_CLIENT_ID: 'inventory',
  INVENTORY_CLIENT_SECRET: 'secret',
  LEDGER_KEY_FILE: './ledger.pem',
  CORPORATE_CLIENT_SECRET: 'secret',
  WEATHER_API_KEY: 'key',
  LOCAL_API_KEY: 'key',
  TICKETS_CLIENT_SECRET: 'secret',
  OPENAI_API_KEY: 'key',
  REPORT_AGENT_SECRET: 'secret',
};

const examples = readdirSync(`${root}config/examples`).filter((name) => name.endsWith('.yaml'));
const validate = new Ajv({ strict: false }).compile(
  JSON.parse(read('config/schema/librechat.schema.json')) as object,
);

describe('the files we ship', () => {
  test('there is an example for each recipe', () => {
    expect(examples.sort()).toEqual([
      'api-key.yaml',
      'authorization-server.yaml',
      'chat.yaml',
      'client-credentials.yaml',
      'custom-variables.yaml',
      'mcp-endpoint.yaml',
      'obo-enterprise.yaml',
      'obo-entra.yaml',
      'obo-token-exchange.yaml',
      'obo.yaml',
      'per-user-oauth.yaml',
      'shared.yaml',
      'stdio.yaml',
      'tool-policy.yaml',
    ]);
  });

  for (const path of [...examples.map((name) => `config/examples/${name}`), 'librechat.yaml.example']) {
    test(`${path} loads without a warning`, () => {
      const result = loadSettings(read(path), { env });
      expect(result.ok ? '' : formatDiagnostics(result.diagnostics, path)).toBe('');
      expect(result).toMatchObject({ ok: true, warnings: [], unused: [] });
    });

    test(`${path} satisfies the JSON Schema it names`, () => {
      const text = read(path);
      expect(text.split('\n')[0]).toMatch(
        /^# yaml-language-server: \$schema=\.{1,2}\/(config\/)?schema\/librechat\.schema\.json$/,
      );
      expect({ valid: validate(parse(text)), errors: validate.errors }).toEqual({
        valid: true,
        errors: null,
      });
    });
  }

  test('the JSON Schema refuses what loading refuses', () => {
    for (const text of [
      'mcpServers: {a: {type: http, url: "https://a.example", requiresOauth: true}}',
      'mcpServers: {a: {command: x, obo: {scopes: y}}}',
      'mcpServers: {a: {url: "wss://a.example", type: websocket, obo: {scopes: y}}}',
      'mcpServers: {a: {command: x, timeout: 0}}',
      'mcpSetings: {}',
      'mcpSettings: {allowedDomain: []}',
    ]) {
      expect([text, validate(parse(text)), loadSettings(text, { env }).ok]).toEqual([text, false, false]);
    }
    expect(validate(parse('x-note: 1\nmcpServers: {a: {command: x, x-note: why}}'))).toBe(true);
  });

  test('a file with every section of LibreChat loads, each unused one named once', () => {
    const text = read('test/fixtures/librechat-all-sections.yaml');
    const result = loadSettings(text, { env });
    if (!result.ok) throw new Error(formatDiagnostics(result.diagnostics, 'fixture'));
    for (const section of unusedSections)
      expect(result.unused.filter((path) => path === section)).toEqual([section]);
    const present = Object.keys((parse(text) as { interface: object }).interface).filter(
      (key) => key !== 'mcpServers',
    );
    expect(present.filter((key) => !(unusedInterfaceKeys as readonly string[]).includes(key))).toEqual([]);
    for (const key of present) expect(result.unused).toContain(`interface.${key}`);
    expect(new Set(result.unused).size).toBe(result.unused.length);
    expect(result.unused).toEqual(
      expect.arrayContaining([
        'endpoints.openAI',
        'endpoints.custom.titleConvo',
        'mcpServers.tracker.oauthRefreshWaitTimeout',
        'mcpSettings.catalogRecovery',
      ]),
    );
    expect(validate(parse(text))).toBe(true);
    expect(result.settings.servers.map((server) => [server.name, server.type])).toEqual([
      ['everything', 'stdio'],
      ['puppeteer', 'stdio'],
      ['legacy', 'sse'],
      ['socket', 'websocket'],
      ['docs', 'streamable-http'],
      ['tracker', 'streamable-http'],
      ['mail', 'streamable-http'],
    ]);
    expect(result.settings.endpoints.custom.map((endpoint) => endpoint.name)).toEqual(['Local']);
    expect(result.settings.endpoints.toolApproval).toMatchObject({ ask: ['mcp:*:write_*'] });
    expect(result.warnings.map(({ path, code }) => [path, code])).toEqual([
      ['endpoints.custom[0].apiKey', 'variable_unset'],
      ['mcpServers.legacy.url', 'type_inferred'],
      ['mcpServers.tracker.oauth.redirect_uri', 'ignored'],
    ]);
  });
});
