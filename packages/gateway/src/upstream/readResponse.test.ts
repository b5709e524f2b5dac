import { describe, expect, test } from '@jest/globals';
import { parseRpcMessages, readResponse, tryReadResponse } from './messages.ts';
import type { UpstreamError } from './upstreamError.ts';

const reasonOf = (work: () => unknown) => {
  try {
    work();
    return 'no error';
  } catch (error) {
    return (error as UpstreamError).reason;
  }
};
const whole = (text: string) => readResponse(parseRpcMessages(text)[0]!, 7, 'legacy');

describe('the text of an answer', () => {
  for (const text of [
    '{"jsonrpc":"2.0","id":7,"result":{"a":"}"}}',
    '{"result":{"a":"}"},"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","result":{"a":"}"},"id":7}',
  ]) {
    test(`is passed on as it came: ${text}`, () => {
      expect(tryReadResponse(text, 7, 'legacy')).toEqual({
        kind: 'result',
        result: { a: '}' },
        json: '{"a":"}"}',
      });
    });
  }

  for (const [what, text] of [
    ['another order', '{"id":7,"jsonrpc":"2.0","result":{"a":1}}'],
    ['blanks', '{ "jsonrpc": "2.0", "id": 7, "result": {"a":1} }'],
    ['a line behind it', '{"jsonrpc":"2.0","id":7,"result":{"a":1}}\n'],
  ] as const) {
    test(`is read as a whole with ${what}`, () => {
      expect(tryReadResponse(text, 7, 'legacy')).toBeUndefined();
      expect(whole(text)).toEqual({ kind: 'result', result: { a: 1 }, json: undefined });
    });
  }

  for (const text of [
    // Looks like a result with something hidden behind it.
    '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":7,"result":{}},{"a":1}}',
    '{"result":{},"id":8,"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","id":70,"result":{}}',
    '{"jsonrpc":"2.0","id":"7","result":{}}',
    '{"jsonrpc":"2.0","id":7}',
    '{"jsonrpc":"2.0","id":7,"result":null}',
    '{"jsonrpc":"2.0","id":7,"result":[]}',
    '{"jsonrpc":"2.0","id":7,"result":"x"}',
    '{"jsonrpc":"2.0","id":7,"error":"x"}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":7,"result":{"a":1}',
    '[]',
    '[1]',
    '"x"',
    'null',
    '',
    '<html>',
  ]) {
    test(`is refused: ${text}`, () => {
      expect(tryReadResponse(text, 7, 'legacy')?.json ?? 'none').not.toContain('error');
      if (text !== '{"result":{},"id":8,"jsonrpc":"2.0","id":7}') {
        expect(tryReadResponse(text, 7, 'legacy')).toBeUndefined();
        expect(reasonOf(() => whole(text))).toBe('invalid_response');
      }
    });
  }

  test('keys between the result and the end are not part of it', () => {
    expect(tryReadResponse('{"result":{},"id":8,"jsonrpc":"2.0","id":7}', 7, 'legacy')).toBeUndefined();
  });

  test('a modern result is whole, wants input, is a task, or is not understood', () => {
    const read = (result: object) =>
      tryReadResponse(`{"jsonrpc":"2.0","id":7,"result":${JSON.stringify(result)}}`, 7, 'modern');
    expect(read({ resultType: 'complete', a: 1 })?.result).toEqual({ resultType: 'complete', a: 1 });
    expect(read({ a: 1 })?.result).toEqual({ a: 1 });
    expect(reasonOf(() => read({ resultType: 'input_required', requestState: 's' }))).toBe('input_required');
    // Whether the caller takes one is decided where that is known.
    expect(reasonOf(() => read({ resultType: 'task' }))).toBe('task');
    expect(reasonOf(() => read({ resultType: 'later' }))).toBe('invalid_response');
    expect(reasonOf(() => read({ resultType: 3 }))).toBe('invalid_response');
    try {
      read({ resultType: 'input_required', requestState: 's' });
    } catch (error) {
      expect((error as UpstreamError).detail.result).toMatchObject({ requestState: 's' });
    }
  });
});
