import { describe, expect, test } from '@jest/globals';
import { compileSettings, mcpUrl } from '../../test/servers.ts';
import { type RenderContext, renderTarget } from './render.ts';

const context: RenderContext = { audience: 'yaml-server', inheritedEnv: {} };
const KEY = { KEY: { title: 'Key', description: '' } };

function render(
  definition: Record<string, unknown>,
  userVar: Record<string, string> = {},
  inheritedEnv: RenderContext['inheritedEnv'] = {},
  env: Record<string, string> = {},
) {
  return renderTarget(compileSettings(definition, env), { userVar }, { ...context, inheritedEnv });
}

const headersOf = (definition: Record<string, unknown>, values: Record<string, string> = {}) => {
  const rendered = render(definition, values);
  if (!rendered.ok || rendered.target.type === 'stdio') throw new Error(JSON.stringify(rendered));
  return rendered.target.headers;
};

describe('a rendered target', () => {
  test('secrets arrive byte for byte, names in lower case', () => {
    const secret = 'ab$$cd$&ef$`$1';
    const rendered = render(
      { customUserVars: KEY, url: 'https://mcp.example/{{KEY}}', headers: { 'X-Key': 'a {{KEY}}' } },
      { KEY: secret },
    );
    expect(rendered).toEqual({
      ok: true,
      target: {
        type: 'streamable-http',
        url: `https://mcp.example/${encodeURIComponent(secret)}`,
        headers: { 'x-key': `a ${secret}` },
        audience: 'yaml-server',
        proxy: undefined,
        sseReadTimeoutMs: 300_000,
      },
    });
    expect(Object.isFrozen(rendered.ok && rendered.target)).toBe(true);
    expect(render({ type: 'sse', proxy: 'http://proxy.example:3128' })).toMatchObject({
      target: { type: 'sse', proxy: 'http://proxy.example:3128' },
    });
  });

  test('the same in arguments and environment of a process', () => {
    const secret = 'ab$$cd$&ef "; rm -rf / #';
    expect(
      render(
        {
          command: 'node',
          args: ['x', '{{KEY}}', '--key={{KEY}}'],
          env: { K: '{{KEY}}' },
          customUserVars: KEY,
        },
        { KEY: secret },
      ),
    ).toEqual({
      ok: true,
      target: {
        type: 'stdio',
        command: 'node',
        args: ['x', secret, `--key=${secret}`],
        env: { K: secret },
        cwd: undefined,
        stderr: 'pipe',
      },
    });
  });

  test('what has no value is named, and there is no target', () => {
    for (const [definition, field] of [
      [{ headers: { 'X-A': '{{KEY}}' } }, 'headers.X-A'],
      [{ url: `${mcpUrl}/{{KEY}}` }, 'url'],
      [{ command: 'node', args: ['a', '{{KEY}}'] }, 'args[1]'],
      [{ command: 'node', env: { A: '{{KEY}}' } }, 'env.A'],
      [{ apiKey: { source: 'admin', authorization_type: 'basic', key: '{{KEY}}' } }, 'apiKey.key'],
    ] as const) {
      expect(render({ ...definition, customUserVars: KEY })).toEqual({
        ok: false,
        field,
        code: 'placeholder_unresolved',
        placeholders: ['{{KEY}}'],
      });
    }
  });

  test('no control character reaches a header, wherever it comes from', () => {
    const failure = { ok: false, code: 'header_value' };
    const keyed = (authorization_type: string) => ({ apiKey: { source: 'user', authorization_type } });
    const broken = { KEY: 'a\r\nX-Evil: 1', MCP_API_KEY: 'a:b\r\nX-Evil: 1' };
    expect(render({ headers: { A: '{{KEY}}' }, customUserVars: KEY }, broken)).toMatchObject(failure);
    for (const type of ['bearer', 'custom', 'basic']) {
      expect(render(keyed(type), broken)).toMatchObject({ ...failure, field: 'MCP_API_KEY' });
    }
    const admin = { apiKey: { source: 'admin', authorization_type: 'bearer', key: '${A}' } };
    expect(render(admin, {}, {}, { A: 'a\nb' })).toMatchObject({ ...failure, field: 'apiKey.key' });
    expect(render({ headers: { A: '日本' } })).toMatchObject({ ...failure, field: 'headers.A' });
  });

  test('a key becomes its header; a pair is encoded for Basic', () => {
    const admin = (authorization_type: string, key: string, more: object = {}) =>
      headersOf({ apiKey: { source: 'admin', authorization_type, key, ...more } });
    expect(admin('bearer', 'k')).toEqual({ authorization: 'Bearer k' });
    expect(admin('basic', 'bzpw')).toEqual({ authorization: 'Basic bzpw' });
    expect(admin('basic', 'ö:p:w')).toEqual({
      authorization: `Basic ${Buffer.from('ö:p:w').toString('base64')}`,
    });
    expect(admin('custom', 'k')).toEqual({ 'x-api-key': 'k' });
    expect(admin('custom', 'k', { custom_header: 'X-Mine' })).toEqual({ 'x-mine': 'k' });
    expect(
      headersOf(
        { apiKey: { source: 'user', authorization_type: 'bearer' }, headers: { Authorization: 'old' } },
        { MCP_API_KEY: 'mine' },
      ),
    ).toEqual({ authorization: 'Bearer mine' });
  });

  test('a value is no option of the program, and stays one argument', () => {
    const args = (template: string, KEY_: string) =>
      render(
        { command: 'node', args: [template], customUserVars: { ...KEY, B: KEY.KEY } },
        { KEY: KEY_, B: '-x' },
      );
    const refused = { ok: false, field: 'args[0]', code: 'arg_value' };
    expect(args('{{KEY}}', '--eval=evil()')).toMatchObject({ ...refused, placeholders: ['{{KEY}}'] });
    expect(args('{{KEY}}', '-e')).toMatchObject(refused);
    expect(args('{{KEY}}{{B}}', '')).toMatchObject(refused);
    expect(args('--key={{KEY}}', '-e')).toMatchObject({ target: { args: ['--key=-e'] } });
    expect(args('{{KEY}}', 'a -e b\n"c"')).toMatchObject({ target: { args: ['a -e b\n"c"'] } });
    expect(render({ command: 'node', args: ['-v', ''] })).toMatchObject({ target: { args: ['-v', ''] } });
  });

  test('what no process can be given is refused by name', () => {
    const nul = { KEY: 'a\u0000b' };
    expect(render({ command: 'node', args: ['{{KEY}}'], customUserVars: KEY }, nul)).toMatchObject({
      field: 'args[0]',
      code: 'nul_value',
    });
    expect(render({ command: 'node', env: { A: '{{KEY}}' }, customUserVars: KEY }, nul)).toMatchObject({
      field: 'env.A',
      code: 'nul_value',
    });
  });

  test('a child gets a handful of names of our environment', () => {
    const ours = { PATH: '/bin', HOME: '/root', CREDS_KEY: 'secret', MONGO_URI: 'secret', TZ: undefined };
    expect(render({ command: 'node', env: { HOME: '/tmp', A: 'b' } }, {}, ours)).toMatchObject({
      target: { env: { PATH: '/bin', HOME: '/tmp', A: 'b' } },
    });
    const rendered = render({ command: 'node' }, {}, ours);
    expect(JSON.stringify(rendered)).not.toContain('secret');
  });
});
