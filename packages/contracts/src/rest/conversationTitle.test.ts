import { describe, expect, test } from '@jest/globals';
import { createConversationTitle } from './constants.ts';

describe('the first title of a conversation', () => {
  test('is the first words, in one line', () => {
    expect(createConversationTitle('  What\n is\t new? ')).toBe('What is new?');
    const long = createConversationTitle(
      'Tell me everything that has changed in the documents since the last time that I asked',
    );
    expect(long).toBe('Tell me everything that has changed in the documents since…');
    expect(createConversationTitle('x'.repeat(100))).toBe(`${'x'.repeat(60)}…`);
    // Half a character is none.
    expect(createConversationTitle(`${'x'.repeat(59)}😀${'x'.repeat(9)}`)).toBe(`${'x'.repeat(59)}…`);
  });
});
