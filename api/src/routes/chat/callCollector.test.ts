import { describe, expect, test } from '@jest/globals';
import {
  MAX_CALLS_PER_ROUND,
  MAX_CALL_ARGUMENTS_LENGTH,
  MAX_CALL_NAME_LENGTH,
  MAX_ROUND_LENGTH,
} from './limits.ts';
import { createCallCollector } from './modelClient.ts';

function collect(...pieces: unknown[]) {
  const collector = createCallCollector();
  const fits = pieces.every((piece) => collector.add(piece));
  return { fits, calls: collector.calls().map(({ name, args }) => [name, args]) };
}

const piece = (index: number | undefined, id: string | undefined, name?: string, args?: string) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

describe('calls in pieces', () => {
  test('are put together by their index', () => {
    const { calls } = collect(
      [piece(0, 'a', 'one', ''), piece(1, 'b', 'two', '')],
      [piece(1, undefined, undefined, '{"b"')],
      [piece(0, undefined, undefined, '{}'), piece(1, undefined, undefined, ':1}')],
    );
    expect(calls).toEqual([
      ['one', '{}'],
      ['two', '{"b":1}'],
    ]);
  });

  test('that come whole, at one index or at none, are calls of their own', () => {
    expect(collect([piece(0, 'a', 'one', '{}')], [piece(0, 'b', 'two', '{}')]).calls).toEqual([
      ['one', '{}'],
      ['two', '{}'],
    ]);
    expect(
      collect([piece(undefined, 'a', 'one', '{')], [piece(undefined, undefined, undefined, '}')]).calls,
    ).toEqual([['one', '{}']]);
  });

  test('that are no pieces are passed over', () => {
    expect(collect(undefined, null, 'text', {}, [])).toEqual({ fits: true, calls: [] });
    expect(collect([null, 1, { function: { name: 7, arguments: {} } }]).calls).toEqual([['', '']]);
  });

  test('have an end', () => {
    const many = Array.from({ length: MAX_CALLS_PER_ROUND + 1 }, (_, index) => [
      piece(index, `${index}`, 'x'),
    ]);
    expect(collect(...many).fits).toBe(false);
    expect(collect(...many.slice(1)).fits).toBe(true);
    const long = 'x'.repeat(MAX_CALL_ARGUMENTS_LENGTH);
    expect(collect([piece(0, 'a', 'x', long)]).fits).toBe(true);
    expect(collect([piece(0, 'a', 'x', long)], [piece(0, undefined, undefined, 'x')]).fits).toBe(false);
    expect(collect([piece(0, 'a', 'x'.repeat(MAX_CALL_NAME_LENGTH))]).fits).toBe(true);
    expect(collect([piece(0, 'a', 'x'.repeat(MAX_CALL_NAME_LENGTH + 1))]).fits).toBe(false);
    // All of them together.
    const half = 'x'.repeat(MAX_ROUND_LENGTH / 2);
    const both = [piece(0, 'a', '', half), piece(1, 'b', '', half)];
    expect([collect(both).fits, collect(both, [piece(2, 'c', 'x')]).fits]).toEqual([true, false]);
  });
});
