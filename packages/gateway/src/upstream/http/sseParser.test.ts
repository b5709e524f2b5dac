import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createSseParser, type SseEvent } from './sseParser.ts';

function parse(bytes: Uint8Array, sizes: readonly number[] = []) {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => void events.push(event));
  let at = 0;
  for (const size of sizes) {
    parser.push(bytes.subarray(at, at + size));
    at += size;
  }
  parser.push(bytes.subarray(at));
  return { events, lastEventId: parser.lastEventId, retryMs: parser.retryMs };
}
const read = (text: string) => parse(Buffer.from(text));

describe('the event stream parser', () => {
  for (const [what, text, expected] of [
    ['one line', 'data: a\n\n', [{ type: 'message', data: 'a' }]],
    ['no blank after the colon', 'data:a\n\n', [{ type: 'message', data: 'a' }]],
    ['only one blank is dropped', 'data:  a\n\n', [{ type: 'message', data: ' a' }]],
    ['several lines', 'data: a\ndata: b\n\n', [{ type: 'message', data: 'a\nb' }]],
    ['CRLF', 'data: a\r\ndata: b\r\n\r\n', [{ type: 'message', data: 'a\nb' }]],
    ['CR', 'data: a\rdata: b\r\r', [{ type: 'message', data: 'a\nb' }]],
    [
      'mixed ends',
      'data: a\r\ndata: b\n\rdata: c\n\n',
      [
        { type: 'message', data: 'a\nb' },
        { type: 'message', data: 'c' },
      ],
    ],
    ['a byte order mark', '\ufeffdata: a\n\n', [{ type: 'message', data: 'a' }]],
    ['comments', ': ping\n\ndata: a\n: pong\n\n', [{ type: 'message', data: 'a' }]],
    [
      'an event name',
      'event: other\ndata: a\n\ndata: b\n\n',
      [
        { type: 'other', data: 'a' },
        { type: 'message', data: 'b' },
      ],
    ],
    ['a field without colon', 'data\n\n', [{ type: 'message', data: '' }]],
    ['unknown fields', 'colour: red\ndata: a\n\n', [{ type: 'message', data: 'a' }]],
    ['no data, no event', 'event: other\n\n', []],
    ['half an event', 'data: a\n\ndata: b\n', [{ type: 'message', data: 'a' }]],
    ['half a line', 'data: a', []],
  ] as [string, string, SseEvent[]][]) {
    test(what, () => {
      expect(read(text).events).toEqual(expected);
    });
  }

  test('ids and retries are kept, bad ones are not', () => {
    expect(read('id: 7\nretry: 250\ndata: a\n\nid: 8\ndata: b\n')).toMatchObject({
      lastEventId: '7',
      retryMs: 250,
    });
    expect(read('retry: soon\nid: a\0b\ndata: a\n\n')).toMatchObject({ lastEventId: '', retryMs: undefined });
  });

  test('a long event that comes byte by byte', () => {
    const lines = Array.from({ length: 700 }, (_, i) => `line ${i} ${'ä'.repeat(i % 5)}`);
    const bytes = Buffer.from(`${lines.map((line) => `data: ${line}\n`).join('')}\n`);
    const sizes = Array.from({ length: bytes.length }, () => 1);
    expect(parse(bytes, sizes).events).toEqual([{ type: 'message', data: lines.join('\n') }]);
    const single = Buffer.from(`data: ${'x'.repeat(10_000)}\n\n`);
    expect(parse(single, sizes.slice(0, single.length)).events).toEqual([
      { type: 'message', data: 'x'.repeat(10_000) },
    ]);
  });

  test('however the bytes are cut, the events are the same', () => {
    const piece = fc.constantFrom(
      'data: grüße\n',
      'data:€\r',
      'data: 👋\r\n',
      '\n',
      '\r\n',
      '\r',
      ': c\n',
      'event: x\n',
      'id: 1\n',
      'data',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        (pieces, sizes) => {
          const bytes = Buffer.from(pieces.join(''));
          expect(parse(bytes, sizes)).toEqual(parse(bytes));
        },
      ),
      { numRuns: 300 },
    );
  });
});
