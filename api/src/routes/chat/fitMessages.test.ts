import type { ChatMessage } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import type { ModelMessage } from './modelClient.ts';
import { fitMessages, toTurns } from './modelContext.ts';

const system: ModelMessage = { role: 'system', content: 's' };
const user = (content: string): ModelMessage => ({ role: 'user', content });
const said = (content: string): ModelMessage => ({ role: 'assistant', content });
const tool = (content: string): ModelMessage => ({ role: 'tool', tool_call_id: 'c', content });

describe('what a model is sent', () => {
  test('is all of it where there is room', () => {
    const earlierTurns = [[user('a'), said('b')]];
    expect(fitMessages({ system, earlierTurns, currentMessages: [user('c')] })).toEqual([
      system,
      ...earlierTurns[0]!,
      user('c'),
    ]);
  });

  test('loses the oldest turns first, and whole', () => {
    const earlierTurns = [
      [user('a'), said('bbbb')],
      [user('c'), said('d')],
      [user('e'), said('f')],
    ];
    const sent = (most: number) =>
      fitMessages({ system, earlierTurns, currentMessages: [user('now')] }, most)
        .map(({ content }) => content)
        .join('');
    expect(sent(13)).toBe('sabbbbcdefnow');
    expect(sent(12)).toBe('scdefnow');
    expect(sent(8)).toBe('scdefnow');
    expect(sent(7)).toBe('sefnow');
    expect(sent(0)).toBe('snow');
  });

  test('loses the oldest results of this turn when it is too long by itself', () => {
    const [a, b] = ['a'.repeat(1_000), 'b'.repeat(1_000)];
    const currentMessages = [user('q'), said(''), tool(a), said(''), tool(b)];
    const sent = fitMessages({ system, earlierTurns: [[user('old')]], currentMessages }, 1_046);
    expect(sent).toEqual([
      system,
      user('q'),
      said(''),
      tool('[An earlier result, omitted to save space]'),
      said(''),
      tool(b),
    ]);
  });
});

describe('a turn that is too long by itself', () => {
  test('loses its oldest arguments after its results', () => {
    const calling = (args: string): ModelMessage => ({
      ...{ role: 'assistant', content: null },
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
    });
    const long = `{"a":"${'a'.repeat(1_000)}"}`;
    const currentMessages = [user('q'), calling(long), tool('r'), calling(long), tool('r')];
    const sent = fitMessages({ system, earlierTurns: [], currentMessages }, 1_500);
    expect(sent).toEqual([system, user('q'), calling('{}'), tool('r'), calling(long), tool('r')]);
  });
});

describe('a conversation, as a model is reminded of it', () => {
  const at = 0;
  const nameOf = (server: string, name: string) => `${name}_mcp_${server}`;

  test('has every call with its result, whatever became of it', () => {
    const call = (callId: string, more: object) => ({
      type: 'call' as const,
      call: { callId, server: 's', serverTitle: 'S', tool: 't', arguments: { a: 1 }, ...more } as never,
    });
    const messages: ChatMessage[] = [
      { id: '1', role: 'user', text: 'hi', at },
      {
        ...{ id: '2', role: 'assistant', model: 'm', at, finish: 'stopped' },
        parts: [
          { type: 'text', text: 'one' },
          call('a', { state: 'done', result: { content: [{ type: 'text', text: 'x'.repeat(5_000) }] } }),
          call('b', { state: 'failed', problem: { code: 'MCP_TIMEOUT', title: 't', detail: 'too late' } }),
          { type: 'text', text: 'two' },
          call('c', { state: 'denied' }),
          call('d', { state: 'running' }),
          call('e', { state: 'done', isCut: true }),
        ],
      },
      { id: '3', role: 'user', text: 'and?', at },
      { id: '4', role: 'assistant', parts: [], model: 'm', at, finish: 'error' },
    ];
    const [first, second] = toTurns(messages, nameOf);
    expect(first!.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool tool assistant tool tool tool',
    );
    expect(first![1]).toMatchObject({ content: 'one', tool_calls: [{ id: 'a' }, { id: 'b' }] });
    expect(first![1]).toHaveProperty('tool_calls.0.function', {
      name: 't_mcp_s',
      arguments: '{"a":1}',
    });
    const results = first!.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
    expect(results[0]!.length).toBeLessThan(4_100);
    expect(results.slice(1)).toEqual([
      'The call failed: too late',
      'The user did not allow this call.',
      'The call was stopped. It is unknown whether it ran.',
      'The call has ended. Its result is not stored.',
    ]);
    // An answer that never began is none.
    expect(second).toEqual([{ role: 'user', content: 'and?' }]);
  });
});
