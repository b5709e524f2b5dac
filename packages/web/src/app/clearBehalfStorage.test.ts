import { describe, expect, test } from '@jest/globals';
import { clearBehalfStorage } from './userSession.ts';

describe('signing out', () => {
  test('takes what the tab kept of ours, and nothing else', () => {
    const entries: Record<string, string> = {
      'behalf.draft.ada.new': 'mine',
      'behalf.hash': '[]',
      other: 'x',
    };
    const storage = Object.defineProperty(entries, 'removeItem', {
      value: (key: string) => Reflect.deleteProperty(entries, key),
    });
    clearBehalfStorage(() => storage as unknown as Storage);
    expect(Object.keys(entries)).toEqual(['other']);
  });
});
