import { describe, expect, test } from '@jest/globals';
import { parseDiscoveredTools } from './reinitResult.ts';

describe('what a reinit found', () => {
  test('a tool is shown by its texts, and what is none is left out', () => {
    const odd = [
      { name: 'a', description: 'A', inputSchema: {} },
      { name: 'b', description: 7 },
      null,
      'c',
      {},
    ];
    expect(parseDiscoveredTools(odd)).toEqual([
      { name: 'a', description: 'A' },
      { name: 'b', description: '' },
    ]);
  });
});
