import { secretMask } from '@behalf/contracts/plain';
import { describe, expect, test } from '@jest/globals';
import { toConfigNode, splitConfigText } from './configNode.ts';

describe('the configuration as a tree', () => {
  test('keeps its nesting', () => {
    expect(toConfigNode({ a: [1, {}], b: null, c: [] })).toEqual({
      kind: 'branch',
      isList: false,
      children: [
        [
          'a',
          {
            ...{ kind: 'branch', isList: true },
            children: [
              ['0', { kind: 'plain', text: '1' }],
              ['1', { kind: 'empty', isList: false }],
            ],
          },
        ],
        ['b', { kind: 'plain', text: 'null' }],
        ['c', { kind: 'empty', isList: true }],
      ],
    });
  });

  test('a hidden secret is told apart from a text, also inside one', () => {
    expect(splitConfigText(secretMask)).toEqual([{ kind: 'secret', text: secretMask }]);
    expect(splitConfigText(`Bearer ${secretMask}`).map(({ kind }) => kind)).toEqual(['text', 'secret']);
    expect(splitConfigText('****')).toEqual([{ kind: 'text', text: '****' }]);
  });

  test('shows which variables a text names, and an empty text as one', () => {
    expect(splitConfigText('x${NAME:-a}y')).toEqual([
      { kind: 'text', text: 'x' },
      { kind: 'variable', text: '${NAME:-a}' },
      { kind: 'text', text: 'y' },
    ]);
    expect(splitConfigText('')).toEqual([{ kind: 'text', text: '' }]);
    expect(splitConfigText('${A}').map(({ kind }) => kind)).toEqual(['variable']);
  });
});
