import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createLineReader, parseOversizedMessage } from './lineReader.ts';

/** What a reader tells of these bytes, cut into pieces of these sizes. */
function read(bytes: Buffer, sizes: readonly number[], maxBytes: number): string[] {
  const output: string[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (line) => output.push(line),
    onLongLine: (head, tail) => {
      if (tail !== undefined) output.push(`${head} ... ${tail}`);
    },
  });
  let at = 0;
  for (const size of sizes) {
    reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (at < bytes.length) reader.push(bytes.subarray(at));
  return output;
}

describe('lines', () => {
  test('are the same however they are cut; a long one costs no other', () => {
    const line = fc.oneof(
      fc.stringMatching(/^[a-zäöü ]{0,30}$/),
      fc.integer({ min: 301, max: 900 }).map((length) => 'L'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 0, max: 200 })), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const expected = lines.map((text) =>
          text.length > 300 ? `${text.slice(0, 256)} ... ${text.slice(-256)}` : text,
        );
        expect(read(bytes, sizes, 300)).toEqual(expected);
        expect(
          read(
            bytes,
            Array.from({ length: bytes.length }, () => 1),
            300,
          ),
        ).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  test('one that does not end is not read for ever', () => {
    expect(() => read(Buffer.alloc(1_201, 'x'), [100, 300, 500], 300)).toThrow(RangeError);
    expect(read(Buffer.alloc(1_200, 'x'), [100, 300, 500], 300)).toEqual([]);
  });
});

describe('a message that is too long to be read', () => {
  const cases: [head: string, tail: string, expected: ReturnType<typeof parseOversizedMessage>][] = [
    ['{"jsonrpc":"2.0","id":7,"result":{"a":"', 'x"}}', { kind: 'response', id: 7 }],
    [' { "id" : 7 , "jsonrpc" : "2.0" , "error" : {', '}}', { kind: 'response', id: 7 }],
    ['{"result":{"id":1,"x":"', 'x"},"jsonrpc":"2.0","id":7}', { kind: 'response', id: 7 }],
    ['{"jsonrpc":"2.0","result":{"x":"', 'x"},"id":7,"jsonrpc":"2.0"}\r', { kind: 'response', id: 7 }],
    ['{"result":{"x":{"y":"', 'x","id":7}},"jsonrpc":"2.0"}', { kind: 'response', id: undefined }],
    ['{"result":{"x":"', 'x,\\"id\\":7}"},"jsonrpc":"2.0"}', { kind: 'response', id: undefined }],
    [
      '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{',
      '}}',
      { kind: 'server_message' },
    ],
    ['{"method":"notifications/message","params":{"data":"', '","id":7}', { kind: 'server_message' }],
    ['{"jsonrpc":"2.0","id":"7","result":{', '}}', { kind: 'response', id: undefined }],
    ['{"params":{"x":"', '"},"id":7}', { kind: 'unknown' }],
    ['xxxx', 'xxxx', { kind: 'unknown' }],
    ['[{"jsonrpc":"2.0","id":7,"result":{', '}}]', { kind: 'unknown' }],
  ];

  test('names its request at its beginning or at its end', () => {
    for (const [head, tail, expected] of cases)
      expect([head, parseOversizedMessage(head, tail)]).toEqual([head, expected]);
    expect(parseOversizedMessage('{"result":{"id":1,"x":"', undefined)).toEqual({
      kind: 'response',
      id: undefined,
    });
  });
});
