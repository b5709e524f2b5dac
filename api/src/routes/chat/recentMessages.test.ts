import { describe, expect, test } from '@jest/globals';
import { recentMessages } from './chat.ts';

describe('what an answer holds of its conversation', () => {
  test('is the newest of it', () => {
    const messages = ['a', 'b', 'c'].map((id) => ({
      id,
      role: 'user' as const,
      text: 'x'.repeat(100),
      at: 0,
    }));
    const idsOf = (most: number) =>
      recentMessages(messages, most)
        .map(({ id }) => id)
        .join('');
    expect([idsOf(1_000), idsOf(320), idsOf(200), idsOf(100)]).toEqual(['abc', 'bc', 'c', '']);
  });
});
