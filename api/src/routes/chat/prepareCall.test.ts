import { systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { prepareCall } from './offeredTools.ts';

const offered = { server: 's', serverTitle: 'S', tool: 't' };

function prepare(args: string, room = { remaining: 1_000 }) {
  return prepareCall({ name: 't_mcp_s', args }, { find: () => offered as never }, systemRandom, room);
}

describe('a call that a model wants', () => {
  test('is refused where an answer has sent too much already', () => {
    const room = { remaining: 10 };
    expect(prepare('{"a": 1}', room)).toMatchObject({ call: { arguments: { a: 1 } }, errorText: undefined });
    const { call, errorText } = prepare('{"a": 1}', room);
    expect(call).toMatchObject({
      arguments: {},
      state: 'failed',
      problem: { code: 'MCP_ARGUMENTS_INVALID' },
    });
    expect(errorText).toContain('The arguments in this answer exceed the limit');
    // There is room for less.
    expect(prepare('{}', room).errorText).toBeUndefined();
  });

  test('has no argument that an assignment would not make one', () => {
    for (const args of ['{"__proto__": {"a": 1}}', '{"a": [{"__proto__": 1}]}']) {
      const { call, errorText } = prepare(args);
      expect([call.state, call.arguments, errorText]).toEqual([
        'failed',
        {},
        expect.stringContaining('__proto__'),
      ]);
    }
    expect(prepare('{"proto": 1}').errorText).toBeUndefined();
  });
});
