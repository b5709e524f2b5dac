import { describe, expect, test } from '@jest/globals';
import { parseUrl } from './url.ts';

describe('a text that may be a URL', () => {
  test('is read alike however often that was asked', () => {
    // Node.js 20 optimises its own check after some thousand calls, and then denies this host.
    for (let i = 0; i < 20_000; i += 1) {
      if (parseUrl('https://b\u00fccher.example/a')?.host !== 'xn--bcher-kva.example') {
        throw new Error(`Denied the ${i}th time`);
      }
    }
    expect(parseUrl('/a', 'https://mcp.example')?.href).toBe('https://mcp.example/a');
    for (const text of ['', 'mcp.example', 'https://', '/a']) expect(parseUrl(text)).toBeUndefined();
  });
});
