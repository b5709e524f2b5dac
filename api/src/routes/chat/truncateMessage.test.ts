import { describe, expect, test } from '@jest/globals';
import { truncateMessage } from './chat.ts';
import type { AnswerMessage } from './writeAnswer.ts';

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('what is kept', () => {
  test('of a message fits also where nothing but what was said is too much', () => {
    const parts: AnswerMessage['parts'] = ['a', '\u{1F600}', '\u0001'].map((sign) => ({
      ...{ type: 'text', text: sign.repeat(500) },
    }));
    const message: AnswerMessage = { id: 'm', role: 'assistant', model: 'm', at: 0, parts };
    for (let most = size(message) - 1; most > 300; most -= 97) {
      const storedMessage = truncateMessage(message, most);
      expect(size(storedMessage)).toBeLessThanOrEqual(most);
      expect(storedMessage.parts).toHaveLength(3);
    }
  });

  test('of a message fits, and what was said is given up last', () => {
    const call = (callId: string) => ({
      type: 'call' as const,
      call: {
        ...{ callId, server: 's', serverTitle: 's', tool: 't', state: 'done' as const },
        arguments: { text: 'a'.repeat(1_000) },
        result: { content: [{ type: 'text', text: 'r'.repeat(1_000) }] },
      },
    });
    const message: AnswerMessage = {
      ...{ id: 'm', role: 'assistant', model: 'm', at: 0, finish: 'stop' },
      parts: [{ type: 'text', text: 'said' }, call('1'), call('2')],
    };
    expect(truncateMessage(message)).toBe(message);
    const lighter = truncateMessage(message, size(message) - 500);
    expect(lighter.parts).toMatchObject([{ text: 'said' }, { call: { isCut: true } }, message.parts[2]]);
    expect(lighter.parts[1]).not.toHaveProperty('call.result');
    expect(size(truncateMessage(message, size(message) - 2_500))).toBeLessThan(size(message) - 2_500);
    const least = truncateMessage(message, 600);
    expect(least.parts).toMatchObject([
      { text: 'said' },
      { call: { arguments: {} } },
      { call: { arguments: {} } },
    ]);
    // What is being written goes on with all of it.
    expect(message.parts[1]).toHaveProperty('call.result');
  });
});
