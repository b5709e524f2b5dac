import { describe, expect, test } from '@jest/globals';
import { secretVariableNames } from '@behalf/contracts';
import fc from 'fast-check';
import {
  type Template,
  bodyFields,
  listPlaceholders,
  openidFields,
  parseTemplate,
  userFields,
} from './template.ts';
import { renderHeader, renderTemplate, renderUrl } from './renderTemplate.ts';
import { resolveEnv } from './resolveEnv.ts';

function compile(text: string, env: Record<string, string> = {}): Template {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  const resolved = resolveEnv(parsed.template, env);
  if (!resolved.ok) throw new Error(resolved.problems[0]!.message);
  return resolved.template;
}

describe('parsing', () => {
  test('every kind of placeholder is told apart', () => {
    expect(parseTemplate('a${B}c{{D}}{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}')).toEqual({
      ok: true,
      template: [
        { kind: 'literal', text: 'a' },
        { kind: 'env', name: 'B' },
        { kind: 'literal', text: 'c' },
        { kind: 'userVar', name: 'D' },
        { kind: 'graph', name: 'ACCESS_TOKEN' },
      ],
    });
    for (const [kind, names] of [
      ['user', userFields],
      ['openid', openidFields],
      ['body', bodyFields],
    ] as const) {
      for (const name of names) {
        expect(parseTemplate(`{{LIBRECHAT_${kind.toUpperCase()}_${name}}}`)).toEqual({
          ok: true,
          template: [{ kind, name }],
        });
      }
    }
  });

  test('other braces are text', () => {
    for (const text of [
      '{"a":{"b":1}}',
      '{"a":[{"b":{}}]}',
      '{{"a"}}',
      '{ {a} }',
      '{a}',
      '$HOME',
      '$ {A}',
      '$',
      '{{',
      '{{}}',
      'a}}',
      '{}',
      '$$',
    ]) {
      expect(parseTemplate(text)).toEqual({ ok: true, template: [{ kind: 'literal', text }] });
    }
  });

  test('what looks like a placeholder and is none is an error', () => {
    expect(parseTemplate('{{LIBRECHAT_USER_EMIAL}}')).toMatchObject({
      ok: false,
      problem: { code: 'placeholder_unknown', suggestion: 'did you mean "LIBRECHAT_USER_EMAIL"?' },
    });
    expect(parseTemplate('{{ KEY }}')).toMatchObject({
      ok: false,
      problem: { suggestion: 'write {{KEY}} without spaces' },
    });
    expect(parseTemplate('{{LIBRECHAT_BODY_MODEL}}')).toMatchObject({ ok: false });
    for (const text of ['${}', '${A B}', '${1A}', '${A:?x}', '{{a-b}}'])
      expect(parseTemplate(text).ok).toBe(false);
  });

  test('a garbled variable or placeholder never passes as text', () => {
    for (const text of [
      'Bearer ${TOKEN:-${FALLBACK}}',
      '${TOKEN:-{{KEY}}}',
      '${TOKEN:-{}}',
      'Bearer ${TOKEN',
      '${A} ${',
      '{{LIBRECHAT_USER_ID}',
      '{{LIBRECHAT_USER_ID|x}}',
      '{{LIBRECHAT_USER_ID',
      '{LIBRECHAT_USER_ID}',
      '{{ LIBRECHAT_USER_ID }',
      '{{KEY}',
      '{{KEY | upper}}',
      `{{${'A'.repeat(65)}}}`,
    ]) {
      expect([text, parseTemplate(text)]).toMatchObject([
        text,
        { ok: false, problem: { code: 'template_malformed', suggestion: expect.any(String) } },
      ]);
    }
    expect(parseTemplate('{{LIBRECHAT_USER_ID|x}}')).toMatchObject({
      problem: { suggestion: 'write {{LIBRECHAT_USER_ID}}' },
    });
    expect(JSON.stringify(parseTemplate('{{hunter2'))).not.toContain('hunter2');
  });
});

describe('environment variables', () => {
  test('several in one text all expand', () => {
    expect(compile('${A}:${B}', { A: 'x', B: 'y' })).toEqual([{ kind: 'literal', text: 'x:y' }]);
  });

  test('defaults as in a shell; unset or empty without one is an error', () => {
    const text = (source: string, env: Record<string, string>) =>
      compile(source, env)
        .map((part) => (part.kind === 'literal' ? part.text : '?'))
        .join('');
    expect(text('${A:-d}', {})).toBe('d');
    expect(text('${A:-d}', { A: '' })).toBe('d');
    expect(text('${A-d}', {})).toBe('d');
    expect(text('${A-d}', { A: '' })).toBe('');
    expect(text('${A-}', {})).toBe('');
    expect(text('${A:-d}', { A: 'x' })).toBe('x');
    expect(() => compile('${A}', {})).toThrow('the environment variable A is not set');
    expect(() => compile('${A}', { A: '' })).toThrow('the environment variable A is empty');
    expect(() => compile('${toString}', {})).toThrow('not set');
  });

  test('each secret of the gateway is refused, set or not, with a default or without', () => {
    const names = [
      'JWT_SECRET',
      'JWT_REFRESH_SECRET',
      'CREDS_KEY',
      'CREDS_IV',
      'MEILI_MASTER_KEY',
      'MONGO_URI',
      'REDIS_URI',
      'REDIS_PASSWORD',
      'OPENID_CLIENT_SECRET',
      'PROXY',
      'HTTP_PROXY',
      'https_proxy',
    ];
    for (const name of names) expect(secretVariableNames.has(name)).toBe(true);
    for (const name of secretVariableNames) {
      for (const source of [`\${${name}}`, `Bearer \${${name}:-x}`, `\${${name}-}`]) {
        for (const env of [{}, { [name]: 'planted-secret' }]) {
          const parsed = parseTemplate(source);
          if (!parsed.ok) throw new Error(source);
          const resolved = resolveEnv(parsed.template, env);
          expect(resolved).toMatchObject({
            ok: false,
            problems: [{ code: 'variable_secret', variable: name }],
          });
          expect(JSON.stringify(resolved)).not.toContain('planted-secret');
        }
      }
    }
  });

  test('a value that looks like a placeholder stays text and is no placeholder', () => {
    const template = compile('${A} ${B}', { A: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}', B: '${HOME}' });
    expect(template).toEqual([{ kind: 'literal', text: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}} ${HOME}' }]);
    expect(listPlaceholders(template)).toEqual([]);
  });
});

describe('rendering', () => {
  test('values arrive byte for byte', () => {
    const template = compile('a{{K}}b');
    for (const value of ['$$', '$&', '$`', "$'", '$1', 'ab$$cd$&ef', '\\', '%41', '${HOME}']) {
      expect(renderTemplate(template, { userVar: { K: value } })).toEqual({ ok: true, text: `a${value}b` });
    }
    fc.assert(
      fc.property(fc.string(), (value) => {
        const rendered = renderTemplate(template, { userVar: { K: value } });
        return rendered.ok && rendered.text === `a${value}b`;
      }),
    );
  });

  test('a value that holds a placeholder stays text', () => {
    const template = compile('{{LIBRECHAT_USER_NAME}}|{{K}}|{{LIBRECHAT_OPENID_ACCESS_TOKEN}}');
    const values = {
      user: { NAME: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}', ID: 'u1' },
      userVar: { K: '{{LIBRECHAT_USER_ID}}${A}' },
      openid: { ACCESS_TOKEN: 'token' },
    };
    expect(renderTemplate(template, values)).toEqual({
      ok: true,
      text: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}|{{LIBRECHAT_USER_ID}}${A}|token',
    });
  });

  test('a missing value is an error that names the placeholder, never blank and never literal', () => {
    const template = compile('{{K}}{{LIBRECHAT_USER_EMAIL}}{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}');
    expect(renderTemplate(template, { user: { EMAIL: null }, userVar: {} })).toEqual({
      ok: false,
      code: 'placeholder_unresolved',
      placeholders: ['{{K}}', '{{LIBRECHAT_USER_EMAIL}}', '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}'],
    });
    expect(renderTemplate(compile('{{toString}}'), { userVar: {} }).ok).toBe(false);
  });

  test('a stored variable cannot stand in for the identity of the user', () => {
    const values = { userVar: { LIBRECHAT_USER_ID: 'mallory', ID: 'mallory' }, user: { ID: 'alice' } };
    expect(renderTemplate(compile('{{LIBRECHAT_USER_ID}}'), values)).toEqual({ ok: true, text: 'alice' });
  });

  test('line breaks are refused, text beyond Latin-1 is encoded, Latin-1 is not', () => {
    const template = compile('x {{K}}');
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', '\u0000', '\u007f']) {
      expect(renderHeader(template, { userVar: { K: value } })).toEqual({
        ok: false,
        code: 'header_value',
        placeholders: ['{{K}}'],
      });
    }
    expect(renderHeader(template, { userVar: { K: 'Ünïcode' } })).toEqual({ ok: true, text: 'x Ünïcode' });
    expect(renderHeader(template, { userVar: { K: '日本' } })).toEqual({
      ok: true,
      text: `x b64:${Buffer.from('日本').toString('base64')}`,
    });
  });

  test('a value cannot leave its place in a URL', () => {
    const path = compile('https://api.example.com/v1/{{K}}/x?q={{K}}');
    expect(renderUrl(path, { userVar: { K: '../@evil.example/?a=b#c' } })).toEqual({
      ok: true,
      text: 'https://api.example.com/v1/..%2F%40evil.example%2F%3Fa%3Db%23c/x?q=..%2F%40evil.example%2F%3Fa%3Db%23c',
    });
    const host = compile('https://{{T}}.example.com/mcp');
    expect(renderUrl(host, { userVar: { T: 'acme' } })).toEqual({
      ok: true,
      text: 'https://acme.example.com/mcp',
    });
    for (const value of ['evil.example/', 'a.b', 'a@b', 'evil.example#', '', '-a', 'a:1']) {
      expect(renderUrl(host, { userVar: { T: value } })).toEqual({
        ok: false,
        code: 'host_value',
        placeholders: ['{{T}}'],
      });
    }
  });

  test('a value that makes it no URL is a typed failure', () => {
    const render = (text: string, value: string) => renderUrl(compile(text), { userVar: { T: value } });
    // Plain letters, and still no name: what stands after `xn--` is no punycode.
    for (const value of ['xn--a', 'xn--999999999', 'XN--0']) {
      expect(render('https://{{T}}.example.com/mcp', value)).toEqual({
        ok: false,
        code: 'host_value',
        placeholders: ['{{T}}'],
      });
    }
    // A name that ends in a number is an address, and this is none (URL standard, "ends in a number").
    expect(render('https://api.example.{{T}}/', '999')).toMatchObject({ ok: false, code: 'host_value' });
    expect(render('https://{{T}}.example.com/mcp', 'xn--80ak6aa92e')).toMatchObject({ ok: true });
    expect(render('https://api.example.com:port/{{T}}', 'a')).toEqual({
      ok: false,
      code: 'url_value',
      placeholders: ['{{T}}'],
    });
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9-]{0,12}$/), fc.boolean(), (value, punycode) => {
        const rendered = render('https://{{T}}.example.com/mcp', punycode ? `xn--${value}` : value);
        return !rendered.ok || new URL(rendered.text).hostname.endsWith('.example.com');
      }),
    );
  });

  test('a value cannot walk out of its path segment', () => {
    const refused = { ok: false, code: 'url_value' };
    const render = (text: string, values: Record<string, string>) =>
      renderUrl(compile(text), { userVar: values });
    for (const [text, values] of [
      ['https://h.example/tenants/{{A}}/mcp', { A: '..' }],
      ['https://h.example/tenants/{{A}}/mcp', { A: '.' }],
      ['https://h.example/tenants/{{A}}', { A: '..' }],
      ['https://h.example/tenants/{{A}}?q=1', { A: '..' }],
      ['https://h.example/tenants/{{A}}#f', { A: '..' }],
      ['https://h.example/tenants/{{A}} ', { A: '..' }],
      ['https://h.example/tenants\\{{A}}\\mcp', { A: '..' }],
      ['https://h.example/.{{A}}/mcp', { A: '.' }],
      ['https://h.example/.{{A}}/mcp', { A: '' }],
      ['https://h.example/.\t{{A}}/mcp', { A: '.' }],
      ['https://h.example/{{A}}{{B}}/mcp', { A: '.', B: '.' }],
      ['https://h.example/%2e{{A}}/mcp', { A: '.' }],
      ['https://h.example/{{A}}%2E/mcp', { A: '.' }],
      ['https://h.example/%2{{A}}/mcp', { A: 'e' }],
    ] as const) {
      expect([text, values, render(text, values)]).toMatchObject([text, values, refused]);
    }
    expect(render('https://h.example/a/{{A}}', { A: '..' })).toEqual({
      ...refused,
      placeholders: ['{{A}}'],
    });
    for (const [text, value, expected] of [
      ['https://h.example/{{A}}/x', '...', 'https://h.example/.../x'],
      ['https://h.example/{{A}}/x', '.a', 'https://h.example/.a/x'],
      ['https://h.example/{{A}}/x', '%2e%2e', 'https://h.example/%252e%252e/x'],
      ['https://h.example/x?q={{A}}', '..', 'https://h.example/x?q=..'],
      ['https://h.example/a/../{{A}}', 'b', 'https://h.example/a/../b'],
    ] as const) {
      expect(render(text, { A: value })).toEqual({ ok: true, text: expected });
    }
    fc.assert(
      fc.property(
        fc.stringMatching(/^[.%2eE/\\]{0,6}$/),
        fc.stringMatching(/^[.%2eE]{0,3}$/),
        (value, near) => {
          const rendered = render(`https://h.example/in/${near}{{A}}/out`, { A: value });
          return !rendered.ok || /^\/in\/[^/]*\/out$/.test(new URL(rendered.text).pathname);
        },
      ),
    );
  });

  test('half a surrogate pair is a typed failure, not an exception', () => {
    for (const value of ['\ud800', 'a\udc00b']) {
      for (const text of [
        'https://h.example/{{A}}',
        'https://h.example/?q={{A}}',
        'https://{{A}}.example/',
      ]) {
        expect(renderUrl(compile(text), { userVar: { A: value } })).toEqual({
          ok: false,
          code: 'url_value',
          placeholders: ['{{A}}'],
        });
      }
    }
    expect(renderUrl(compile('https://h.example/{{A}}'), { userVar: { A: '😀' } })).toEqual({
      ok: true,
      text: 'https://h.example/%F0%9F%98%80',
    });
  });
});
