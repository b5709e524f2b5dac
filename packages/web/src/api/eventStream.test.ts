import { describe, expect, test } from '@jest/globals';
import { createEventParser, readEvents } from './eventStream.ts';

describe('the events of an answer', () => {
  test('are the same wherever the network cut them', () => {
    const text =
      ': hello\n\nevent: one\ndata: {"a":1}\n\nevent: two\r\ndata: b\r\ndata: c\r\n\r\ndata: d\n\n';
    const events = [
      { event: 'one', data: '{"a":1}' },
      { event: 'two', data: 'b\nc' },
      { event: 'message', data: 'd' },
    ];
    for (let length = 1; length <= text.length; length += 1) {
      const parse = createEventParser();
      const pieces = text.match(new RegExp(`[^]{1,${String(length)}}`, 'g')) ?? [];
      expect(pieces.flatMap((piece) => parse(piece))).toEqual(events);
    }
  });

  test('that are large are read in a time that their size explains', () => {
    // A result of 4 MiB as a slow network brings it. Read anew with each piece it would be 64 GB.
    const parse = createEventParser();
    const piece = 'A'.repeat(128);
    parse('event: result\ndata: ');
    for (let index = 0; index < 32_768; index += 1) expect(parse(piece)).toHaveLength(0);
    expect(parse('\n\n')[0]?.data).toHaveLength(4 * 1024 * 1024);
  }, 10_000);

  test('end the connection when nobody reads on', async () => {
    const ended: string[] = [];
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
      cancel: () => void ended.push('cancelled'),
    });
    const read = async () => {
      for await (const event of readEvents(new Response(body))) throw new Error(event.data);
    };
    await expect(read()).rejects.toThrow('x');
    expect(ended).toEqual(['cancelled']);
  });
});
