import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { callChannelTool, createChannelRig, type ChannelRig } from '../../../test/channelRig.ts';
import type { StdioTarget } from '../target.ts';
import type { Upstream } from '../upstream.ts';

const rigs: ChannelRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.closeAll();
});

/** Answers `big` with more than we hold, written in the way that its argument names; `later` after `go`. */
const script = `
  const big = 'x'.repeat(17 * 1024 * 1024);
  const write = (text) => process.stdout.write(text + '\\n');
  const answer = (id, result) => write(JSON.stringify({ jsonrpc: '2.0', id, result }));
  const shapes = {
    first: (id) => write('{"jsonrpc":"2.0","id":' + id + ',"result":{"x":"' + big + '"}}'),
    last: (id) => write('{"result":{"x":"' + big + '"},"jsonrpc":"2.0","id":' + id + '}'),
    endless: (id) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"x":"' + big),
    notice(id) {
      write('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"' + big + '"}}');
      answer(id, { content: [] });
    },
    odd: (id) => write('{"extra":"' + big + '","jsonrpc":"2.0","id":' + id + ',"result":{}}'),
  };
  let waiting = [];
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize')
      return answer(id, { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'b', version: '1' } });
    if (method !== 'tools/call') return;
    if (params.name === 'later') { process.stderr.write('waits\\n'); return waiting.push(id); }
    if (params.name === 'big') return shapes[params.arguments.shape](id);
    for (const each of waiting.splice(0)) answer(each, { content: ['later'] });
    answer(id, { content: ['now'] });
  });`;

async function open(): Promise<{
  upstream: Upstream;
  later: (count: number) => Promise<Promise<unknown>[]>;
}> {
  const rig = createChannelRig();
  rigs.push(rig);
  const target: StdioTarget = {
    type: 'stdio',
    command: process.execPath,
    args: ['-e', script],
    env: {},
    cwd: undefined,
    stderr: 'pipe',
  };
  const upstream = await rig.open(target);
  return {
    upstream,
    async later(count) {
      const calls = Array.from({ length: count }, () =>
        callChannelTool(upstream, 'later').catch((error: unknown) => error),
      );
      await eventually('they wait', () => rig.stderr.length === count);
      return calls;
    },
  };
}

describe('a message that is too large, on a channel that others use', () => {
  for (const shape of ['first', 'last']) {
    test(`fails its own request alone (id ${shape})`, async () => {
      const { upstream, later } = await open();
      const others = await later(2);
      await expect(callChannelTool(upstream, 'big', { shape })).rejects.toMatchObject({
        reason: 'too_large',
        code: 'MCP_RESPONSE_TOO_LARGE',
      });
      expect(await callChannelTool(upstream, 'go')).toEqual({ content: ['now'] });
      expect(await Promise.all(others)).toEqual([{ content: ['later'] }, { content: ['later'] }]);
    });
  }

  test('fails it before its end, which may not come', async () => {
    const { upstream } = await open();
    await expect(callChannelTool(upstream, 'big', { shape: 'endless' })).rejects.toMatchObject({
      reason: 'too_large',
    });
  });

  test('is stepped over when nobody waits for it', async () => {
    const { upstream } = await open();
    expect(await callChannelTool(upstream, 'big', { shape: 'notice' })).toEqual({ content: [] });
  });

  test('ends the channel when nobody knows whose it is', async () => {
    const { upstream, later } = await open();
    const others = await later(1);
    const failed = { reason: 'reset', outcome: 'unknown' };
    await expect(callChannelTool(upstream, 'big', { shape: 'odd' })).rejects.toMatchObject(failed);
    expect(await Promise.all(others)).toMatchObject([failed]);
    await expect(callChannelTool(upstream, 'go')).rejects.toMatchObject({ reason: 'ended' });
  });

  test('and is told to the only one whose it can be', async () => {
    const { upstream } = await open();
    await expect(callChannelTool(upstream, 'big', { shape: 'odd' })).rejects.toMatchObject({
      reason: 'too_large',
    });
  });
});
