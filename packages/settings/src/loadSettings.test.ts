import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { builtInSettings } from './buildSettings.ts';
import { formatDiagnostics, loadSettings } from './loadSettings.ts';
import { readLiteralText } from './template/template.ts';

function errors(text: string, env: Record<string, string> = {}): string {
  const result = loadSettings(text, { env });
  return result.ok ? '' : formatDiagnostics(result.diagnostics, 'librechat.yaml');
}

function load(text: string, env: Record<string, string> = {}) {
  const result = loadSettings(text, { env });
  if (!result.ok) throw new Error(formatDiagnostics(result.diagnostics, 'librechat.yaml'));
  return result;
}

describe('a mistake is told with line, path and suggestion', () => {
  test('a misspelt key of a server', () => {
    const text =
      'mcpServers:\n  github:\n    type: streamable-http\n    url: https://github.example/mcp\n    requiresOauth: true\n';
    expect(errors(text)).toBe(
      'librechat.yaml:5  mcpServers.github.requiresOauth  unknown key; did you mean "requiresOAuth"?',
    );
  });

  test('misspelt keys at every level we own', () => {
    const text = [
      'mcpServer: {}',
      'mcpSettings: {allowedDomain: []}',
      'interface: {mcpServers: {admin: {crate: true}}}',
      'identityProviders: {p: {type: entra, clinetId: x}}',
      'mcpServers: {a: {command: x, access: {role: [ADMIN]}, tools: {inlcude: [a]}}}',
    ].join('\n');
    expect(errors(text).split('\n')).toEqual([
      'librechat.yaml:1  mcpServer  unknown key; did you mean "mcpServers"?',
      'librechat.yaml:2  mcpSettings.allowedDomain  unknown key; did you mean "allowedDomains"?',
      'librechat.yaml:3  interface.mcpServers.admin.crate  unknown key; did you mean "create"?',
      'librechat.yaml:4  identityProviders.p.clinetId  unknown key; did you mean "clientId"?',
      'librechat.yaml:5  mcpServers.a.access.role  unknown key; did you mean "roles"?',
      'librechat.yaml:5  mcpServers.a.tools.inlcude  unknown key; did you mean "include"?',
    ]);
  });

  test('keys beginning with x- are comments, but header names are not', () => {
    const result = load(
      'x-why: because\nmcpServers: {a: {type: http, url: "https://a.example", x-note: y, headers: {x-token: z}}}',
    );
    const [server] = result.settings.servers;
    expect(server).toMatchObject({ headers: { 'x-token': [{ kind: 'literal', text: 'z' }] } });
    expect(server).not.toHaveProperty('x-note');
  });

  test('unknownKeys: warn turns unknown keys, and nothing else, into warnings', () => {
    const result = load('unknownKeys: warn\nfoo: 1\nmcpServers: {a: {command: x, titel: y}}');
    expect(result.warnings.map(({ path, line }) => [path, line])).toEqual([
      ['foo', 2],
      ['mcpServers.a.titel', 3],
    ]);
    expect(errors('unknownKeys: warn\nmcpServers: {a: {command: x, obo: {scopes: y}}}')).toContain(
      'On-Behalf-Of',
    );
    expect(errors('unknownKey: warn\nfoo: 1')).toContain('foo  unknown key');
  });

  test('wrong types in the words of the file', () => {
    const text =
      'mcpServers:\n  a:\n    command: x\n    args: one\n    timeout: "5000"\n    startup: maybe\n    stderr: pip\n    env: {PORT: 3000}\n';
    expect(errors(text).split('\n')).toEqual([
      'librechat.yaml:4  mcpServers.a.args  must be a list, not text; write it as a list: ["..."]',
      'librechat.yaml:5  mcpServers.a.timeout  must be a whole number, not text; write it without quotes',
      'librechat.yaml:6  mcpServers.a.startup  must be true or false, not text; write it without quotes',
      expect.stringMatching(/^librechat.yaml:7 {2}mcpServers.a.stderr {2}must be /),
      'librechat.yaml:8  mcpServers.a.env.PORT  must be text, not a whole number; put it in quotes',
    ]);
    expect(errors('mcpServers: []')).toBe(
      'librechat.yaml:1  mcpServers  must be a mapping of server names; write name: below it',
    );
    expect(errors('mcpServers: {a: null}')).toContain('mcpServers.a  must be a mapping');
  });

  test('On-Behalf-Of on a process: one message, exact path and suggestion', () => {
    expect(errors('mcpServers:\n  files:\n    command: npx\n    obo:\n      scopes: a\n')).toBe(
      'librechat.yaml:4  mcpServers.files.obo  On-Behalf-Of is not possible on a stdio server: its requests cannot carry ' +
        'the user\'s token; use a url with type "streamable-http" or "sse", or remove obo',
    );
  });

  test('On-Behalf-Of on a websocket, written or inferred', () => {
    for (const type of ['', 'type: websocket, ']) {
      expect(errors(`mcpServers: {w: {${type}url: "wss://w.example", obo: {scopes: a}}}`)).toContain(
        'mcpServers.w.obo  On-Behalf-Of is not possible on a websocket server',
      );
    }
  });

  test('no diagnostic repeats a value of the file', () => {
    const planted = 'hunter2hunter2';
    for (const text of [
      `mcpServers: {a: {command: x, timeout: "${planted}"}}`,
      `mcpServers: {a: {type: "${planted}"}}`,
      `mcpServers: {a: {type: http, url: "${planted}"}}`,
      `mcpServers: {a: {type: http, url: "https://u:${planted}@h.example"}}`,
      `mcpServers: {a: {type: http, url: "https://h.example", headers: {A: "${planted}\\n"}}}`,
      `mcpServers: {a: {type: http, url: "https://h.example", proxy: "${planted}"}}`,
      `a: "${planted}\n`,
      `a: ${planted}: ${planted}: b`,
      `"${planted}" "${planted}"`,
      `- &a ${planted} *a`,
      `mcpSettings: {allowedAddresses: ["${planted}"]}`,
    ]) {
      expect(errors(text)).not.toBe('');
      expect([text, errors(text).includes(planted)]).toEqual([text, false]);
    }
  });
});

describe('the snapshot', () => {
  test('it is frozen all the way down', () => {
    const { settings } = load(
      'mcpSettings: {allowedDomains: [a.example]}\nidentityProviders: {p: {type: jwt-bearer, issuer: "https://p.example", clientId: c}}\ninterface: {mcpServers: {use: true}}\n' +
        'mcpServers: {a: {type: http, url: "https://a.example/{{LIBRECHAT_USER_ID}}", headers: {B: c}, oauth: {grant_types_supported: [x]}}}',
    );
    const visitNodes = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(visitNodes);
    };
    visitNodes(settings);
    expect(() => Object.assign(settings.servers[0]!, { type: 'stdio' })).toThrow(TypeError);
  });

  test('without a file: the reference server, its paths taken literally', () => {
    const settings = builtInSettings({ command: '/opt/${HOME}/node', args: ['/opt/{{x}}/index.js', ''] });
    const [server] = settings.servers;
    expect(settings.servers).toHaveLength(1);
    expect(server).toMatchObject({ name: 'everything', type: 'stdio', command: '/opt/${HOME}/node' });
    if (server?.type !== 'stdio') throw new Error('not stdio');
    expect(server.args.map(readLiteralText)).toEqual(['/opt/{{x}}/index.js', '']);
    expect(server.env).toEqual({ GZIP_ALLOWED_DOMAINS: [{ kind: 'literal', text: 'invalid' }] });
  });
});

describe('whatever the text', () => {
  const word = fc.constantFrom(
    'mcpServers',
    'a',
    'url',
    'command',
    'https://x.example',
    '${A}',
    '{{B}}',
    '&x',
    '*x',
    '<<',
    '!t',
    '"',
    '[',
    ']',
    '{',
    '}',
    ':',
    ': ',
    '\n',
    '\n  ',
    '\n    ',
    '- ',
    '\t',
    '#',
    '|',
    '>',
    '%',
    '---\n',
    '__proto__',
    '\u0000',
    '\u2028',
  );
  test('loading answers, it never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
        ),
        (text) => {
          const result = loadSettings(text, { env: { A: 'b' } });
          return result.ok || result.diagnostics.length > 0;
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('also when the shape is right and the values are anything', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.dictionary(word, fc.jsonValue())), (mcpServers) => {
        const result = loadSettings(JSON.stringify({ mcpServers }), { env: {} });
        return result.ok || result.diagnostics.length > 0;
      }),
      { numRuns: 500 },
    );
  });
});

describe('the definitions of a file', () => {
  test('they are there as they were written, unfilled and frozen', () => {
    const text = 'mcpServers:\n  one:\n    url: https://a.example/${PART}\n    type: streamable-http\n';
    const { definitions } = load(text, { PART: 'planted' });
    expect(definitions).toEqual({ one: { url: 'https://a.example/${PART}', type: 'streamable-http' } });
    expect(Object.isFrozen(definitions['one'])).toBe(true);
    expect(load('{}').definitions).toEqual({});
  });
});
