import { describe, expect, test } from '@jest/globals';
import { createFakeIo, createProblem } from '../test/fakeIo.ts';
import { commands } from './commands/commands.ts';
import { exitCodes } from './cliError.ts';
import { runCli } from './run.ts';

const start = (io: ReturnType<typeof createFakeIo>, ...argv: string[]) => runCli(argv, commands, io, '9.9.9');

describe('the command line', () => {
  test('every command explains itself, and so does every group', async () => {
    for (const { path, arguments: words, options } of commands) {
      for (const flag of ['--help', '-h']) {
        const io = createFakeIo();
        expect(await start(io, ...path, flag)).toBe(0);
        expect(io.printed.out).toContain(`behalf ${path.join(' ')}: `);
        for (const { name } of [...words, ...options]) expect(io.printed.out).toContain(name);
        for (const common of ['--json', '--url', '--help']) expect(io.printed.out).toContain(common);
        expect(io.requests).toEqual([]);
      }
    }
    for (const argv of [[], ['--help'], ['mcp'], ['mcp', '--help'], ['mcp', 'token'], ['config']]) {
      const io = createFakeIo();
      expect([argv, await start(io, ...argv)]).toEqual([argv, 0]);
      expect(io.printed.out).toContain('Commands:');
    }
    const io = createFakeIo();
    expect([await start(io, '--version'), io.printed.out]).toEqual([0, '9.9.9\n']);
  });

  test('everything that is wrong is said at once, with what was meant', async () => {
    const io = createFakeIo();
    expect(await start(io, 'mcp', 'token', 'import', '--stdn', '--json=1', '--label')).toBe(2);
    for (const words of [
      '--stdn is not an option',
      'did you mean "stdin"',
      '--label needs a value',
      '--json takes no value',
      'SERVER is missing',
    ]) {
      expect(io.printed.err).toContain(words);
    }
    const other = createFakeIo();
    expect(await start(other, 'mcp', 'lits')).toBe(2);
    expect(other.printed.err).toContain('did you mean "mcp list"');
    expect([...io.requests, ...other.requests]).toEqual([]);
  });

  test('a secret that was typed where none belongs is not repeated', async () => {
    for (const argv of [
      ['mcp', 'token', 'import', 'notes', 'pl4nted'],
      ['mcp', 'token', 'import', 'notes', '--stdin', 'pl4nted'],
      ['mcp', 'tokn', 'import', 'notes', 'pl4nted'],
      ['mcp', 'call', 'notes', 'add', '--arg', 'pl4nted'],
    ]) {
      const tools = {
        serverName: 'notes',
        title: 'n',
        state: 'connected',
        authority: { kind: 'none', shared: true },
      };
      const listed = {
        ...tools,
        tools: [{ name: 'add', publicName: 'add', description: '', inputSchema: {}, asksFirst: false }],
      };
      const io = createFakeIo({ 'GET /api/mcp/servers/notes/tools': [200, listed] });
      expect([argv, await start(io, ...argv)]).toEqual([argv, 2]);
      expect(io.printed.out + io.printed.err).not.toContain('pl4nted');
    }
  });

  test('what happened is told by the exit code', async () => {
    const path = 'GET /api/mcp/servers';
    const status = {
      'GET /api/mcp/connection/status': [200, { success: true, connectionStatus: {}, oauthTimeout: 1 }],
    } as const;
    const cases = [
      [{ ...status, [path]: [200, {}] as const }, 0],
      [{ ...status }, 3],
      [{ ...status, [path]: createProblem(401, 'AUTH_TOKEN_INVALID', 'no') }, 4],
      [{ ...status, [path]: createProblem(403, 'API_KEY_SCOPE', 'no') }, 4],
      [{ ...status, [path]: createProblem(404, 'MCP_SERVER_NOT_FOUND', 'no') }, 6],
      [{ ...status, [path]: createProblem(429, 'RATE_LIMITED', 'no') }, 7],
      [{ ...status, [path]: createProblem(424, 'MCP_AUTHORIZATION_REQUIRED', 'no') }, 5],
      [{ ...status, [path]: createProblem(500, 'INTERNAL', 'no') }, 1],
      [{ ...status, [path]: [404, '<html>'] as const }, 3],
      [{ ...status, [path]: [200, [1]] as const }, 1],
    ] as const;
    for (const [answers, expected] of cases) {
      expect([answers, await start(createFakeIo(answers), 'mcp', 'list')]).toEqual([answers, expected]);
    }
    expect(await start(createFakeIo({}, { env: {} }), 'mcp', 'list')).toBe(4);
    expect(await start(createFakeIo({}, { env: { BEHALF_API_KEY: 'a b' } }), 'mcp', 'list')).toBe(2);
    const stopped = createFakeIo(status);
    stopped.interrupt();
    expect(await start(stopped, 'mcp', 'list')).toBe(130);
    expect(new Set(Object.values(exitCodes).map(([code]) => code)).size).toBe(Object.keys(exitCodes).length);
  });

  test('with --json standard output is one document, also when it fails', async () => {
    const io = createFakeIo({
      'POST /api/mcp/notes/diagnose': createProblem(403, 'API_KEY_SCOPE', 'The key \u009b2J lacks it'),
    });
    expect(await start(io, 'doctor', 'notes', '--json')).toBe(4);
    expect(JSON.parse(io.printed.out)).toMatchObject({
      error: { code: 'API_KEY_SCOPE', action: expect.any(String) },
    });
    expect(io.printed.out).not.toContain('\u009b');
    expect(io.printed.err).not.toContain('API_KEY_SCOPE');
    const usage = createFakeIo();
    expect(await start(usage, 'doctor', '--json')).toBe(2);
    expect(JSON.parse(usage.printed.out)).toMatchObject({ error: { code: 'usage' } });
  });

  test('the key goes to the gateway that was named, and is never printed', async () => {
    const seen: [string, RequestInit | undefined][] = [];
    const io = createFakeIo(
      {},
      {
        fetch: async (input, init) => {
          seen.push([new URL(input).href, init]);
          return new Response(null, { status: 302, headers: { location: 'https://elsewhere.example/' } });
        },
      },
    );
    expect(await start(io, 'doctor', 'a/../b?c')).toBe(3);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.[0]).toBe('http://localhost:1/api/mcp/a%2F..%2Fb%3Fc/diagnose');
    expect(seen[0]?.[1]).toMatchObject({
      redirect: 'manual',
      headers: { authorization: 'Bearer bhf_pl4nted' },
    });
    expect(io.printed.out + io.printed.err).not.toContain('pl4nted');
    for (const url of ['ftp://x', 'nonsense', 'http://a:b@x']) {
      const wrong = createFakeIo();
      expect([url, await start(wrong, 'doctor', 'x', '--url', url)]).toEqual([url, 2]);
      expect(wrong.requests).toEqual([]);
    }
  });

  test('the key crosses no network in clear unless its owner said so', async () => {
    const to = (BEHALF_URL: string, env: Record<string, string> = {}) =>
      createFakeIo({}, { env: { BEHALF_API_KEY: 'bhf_pl4nted', BEHALF_URL, ...env } });
    for (const url of ['http://gw.example', 'http://127.0.0.1.gw.example', 'http://10.0.0.1:3080']) {
      for (const env of [{}, { BEHALF_INSECURE: '' }, { BEHALF_INSECURE: 'false' }]) {
        const refused = to(url, env);
        expect([url, await start(refused, 'doctor', 'x'), refused.requests]).toEqual([url, 2, []]);
        expect(refused.printed.err).toContain('unencrypted');
        expect(refused.printed.err).toContain('--insecure');
      }
    }
    const said = to('http://gw.example');
    await start(said, 'doctor', 'x', '--insecure');
    const set = to('http://gw.example', { BEHALF_INSECURE: 'true' });
    await start(set, 'doctor', 'x');
    for (const { requests, printed } of [said, set]) {
      expect(requests).toHaveLength(1);
      expect(printed.err).toContain('unencrypted');
    }
    for (const url of ['https://gw.example', 'http://localhost:1', 'http://[::1]:1', 'http://127.0.0.2']) {
      const quiet = to(url);
      await start(quiet, 'doctor', 'x');
      expect([url, quiet.requests.length, quiet.printed.err.includes('unencrypted')]).toEqual([
        url,
        1,
        false,
      ]);
    }
  });
});
