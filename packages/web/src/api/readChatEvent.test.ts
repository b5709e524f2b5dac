import { describe, expect, test } from '@jest/globals';
import { readChatEvent } from './chat.ts';

const read = (event: string, data: unknown) => readChatEvent({ event, data: JSON.stringify(data) });

describe('an event of a chat', () => {
  test('is read when it has what is needed', () => {
    expect(read('text', { text: 'hi' })).toEqual({ event: 'text', data: { text: 'hi' } });
    expect(read('approval', { callId: 'c', expiresAt: 1, more: true })).toBeDefined();
    expect(read('error', { problem: { code: 'MODEL_REFUSED', title: 't', detail: 'd' } })).toBeDefined();
  });

  test('is passed over when it is unknown or cannot be read', () => {
    expect(read('thinking', { text: 'hm' })).toBeUndefined();
    expect(read('toString', {})).toBeUndefined();
    expect(read('text', { text: 1 })).toBeUndefined();
    expect(read('text', null)).toBeUndefined();
    expect(read('tool_call', { call: { callId: 'c' } })).toBeUndefined();
    expect(read('done', { conversation: { id: 'k', title: 't' }, message: {} })).toBeUndefined();
    expect(readChatEvent({ event: 'text', data: '{"text":' })).toBeUndefined();
  });
});
