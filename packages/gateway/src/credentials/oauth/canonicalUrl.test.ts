import { describe, expect, test } from '@jest/globals';
import { canonicalizeUrl } from './addresses.ts';

describe('the canonical address of a server', () => {
  test('is one spelling for all that lead to the same place', () => {
    for (const [text, canonical] of [
      ['HTTPS://MCP.Example.com:443/Path/', 'https://mcp.example.com/Path'],
      ['https://mcp.example.com', 'https://mcp.example.com'],
      ['https://mcp.example.com///', 'https://mcp.example.com'],
      ['http://mcp.example.com:80/a', 'http://mcp.example.com/a'],
      ['https://mcp.example.com:8443/a', 'https://mcp.example.com:8443/a'],
      ['https://bücher.example/a', 'https://xn--bcher-kva.example/a'],
      ['wss://mcp.example.com:443/a', 'https://mcp.example.com/a'],
      ['https://mcp.example.com/a?key=secret', 'https://mcp.example.com/a'],
      ['https://mcp.example.com/a/../b', 'https://mcp.example.com/b'],
    ] as const) {
      expect(canonicalizeUrl(text)).toBe(canonical);
      expect(canonicalizeUrl(canonical)).toBe(canonical);
    }
    expect(canonicalizeUrl('https://mcp.example.com/a?tenant=1', { includeQuery: true })).toBe(
      'https://mcp.example.com/a?tenant=1',
    );
  });

  test('of some addresses there is none', () => {
    for (const text of [
      '',
      'mcp.example.com',
      'https://user@mcp.example.com',
      'https://:pw@mcp.example.com',
      'https://mcp.example.com/#',
      'https://mcp.example.com/#a',
      'ftp://mcp.example.com',
      'javascript:alert(1)',
    ]) {
      expect(canonicalizeUrl(text)).toBeUndefined();
    }
  });
});
