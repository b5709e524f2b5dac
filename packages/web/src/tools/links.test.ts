import { execFileSync } from 'node:child_process';
import type { ToolResult } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { curlCommand, parseLinkedArgs, toolPath } from './toolLinks.ts';
import { buildSignInUrl } from '../connect/signInUrl.ts';
import { parseConnectNeeded } from './runs.ts';

const origin = 'https://gateway.example:8443';

/** What a shell hands to curl, word by word. */
function wordsOf(command: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}\n`;
  const env = { BEHALF_API_KEY: 'bhf_key', PATH: process.env['PATH'] };
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1);
}

describe('a call as a command', () => {
  test('can be pasted', () => {
    expect(curlCommand({ origin, server: 'everything', tool: 'echo', args: { message: 'hi' } })).toBe(
      [
        "curl 'https://gateway.example:8443/api/mcp/servers/everything/tools/echo/call' \\",
        '  -H "Authorization: Bearer $BEHALF_API_KEY" \\',
        "  -H 'Content-Type: application/json' \\",
        `  --data-raw '{"arguments":{"message":"hi"}}'`,
      ].join('\n'),
    );
  });

  test('a shell takes nothing in it for a command', () => {
    for (const text of [
      "it's",
      '$(touch /tmp/x) `id` $HOME "quoted" \\ \\n',
      "'; rm -rf / #",
      'line\nbreak\ttab',
      '@/etc/passwd',
      'ünï 😀 \u2028',
      "'''\\'",
    ]) {
      const args = { text, [text]: [text] };
      const words = wordsOf(curlCommand({ origin, server: text, tool: text, args }));
      expect(words).toEqual([
        `${origin}/api/mcp/servers/${encodeURIComponent(text)}/tools/${encodeURIComponent(text)}/call`,
        ...['-H', 'Authorization: Bearer bhf_key', '-H', 'Content-Type: application/json'],
        ...['--data-raw', JSON.stringify({ arguments: args })],
      ]);
    }
  });
});

describe('the address of a tool', () => {
  test('carries arguments behind the #, and gives them back', () => {
    const args = { a: 'x & y # % 😀', b: [1, { c: null }] };
    const address = toolPath('my server', 'a/b', args);
    expect(address).toMatch(/^\/tools\/my%20server\/a%2Fb#args=%7B/);
    expect(parseLinkedArgs(new URL(address, origin).hash)?.args).toEqual(args);
    expect(toolPath('s', 't', { a: 'x'.repeat(20_000) })).toBe('/tools/s/t');
    expect(toolPath('s', 't')).toBe('/tools/s/t');
    expect(toolPath('s', 't', {})).toBe('/tools/s/t');
  });

  test('gives nothing where nothing can be read', () => {
    for (const hash of ['', '#', '#args=', '#args=%', '#args=[1]', '#args=7', '#args={', '#other={}']) {
      expect(parseLinkedArgs(hash)).toBeUndefined();
    }
    const long = encodeURIComponent(JSON.stringify({ a: 'x'.repeat(20_000) }));
    expect(parseLinkedArgs(`#args=${long}`)).toBeUndefined();
  });
});

describe('a sign-in that is missing', () => {
  const result = (auth: unknown): ToolResult => ({
    content: [],
    isError: true,
    _meta: { 'behalf/auth': auth },
  });

  test('is read from the result', () => {
    const auth = {
      code: 'needs_reauth',
      server: 'mail',
      reason: 'absent',
      connectUrl: '/oauth/openid',
      retryable: false,
    };
    expect(parseConnectNeeded(result(auth), 'Mail')).toEqual({
      ...{ server: 'mail', title: 'Mail', reason: 'absent', connectUrl: '/oauth/openid' },
    });
    expect(parseConnectNeeded(result({ ...auth, connectUrl: null }), 'Mail')?.connectUrl).toBeNull();
    for (const strange of [undefined, null, 'x', { server: 7, reason: 'absent' }, {}]) {
      expect(parseConnectNeeded(result(strange), 'Mail')).toBeUndefined();
    }
    expect(parseConnectNeeded({ content: [] }, 'Mail')).toBeUndefined();
  });

  test('it begins at this gateway or nowhere', () => {
    const address = (url: string | null, returnTo = '/tools') => buildSignInUrl(url, returnTo, origin);
    expect(address('/oauth/openid', '/tools/a/b')).toBe(`${origin}/oauth/openid?returnTo=%2Ftools%2Fa%2Fb`);
    expect(address('/oauth/x?y=1')).toBe(`${origin}/oauth/x?y=1&returnTo=%2Ftools`);
    // A path that another page would take for a host.
    expect(address('/.//evil.example')).toBe(`${origin}//evil.example?returnTo=%2Ftools`);
    for (const url of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/\n\\evil.example',
      '//',
      'javascript:alert(1)',
      '',
      null,
    ]) {
      expect(address(url)).toBeUndefined();
    }
  });
});
