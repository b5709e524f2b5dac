import { afterEach, describe, expect, test } from '@jest/globals';
import { scriptedError, type ScriptedTool } from '@behalf/testkit';
import {
  annPrincipal,
  createRecordingPeer,
  bobPrincipal,
  createRelayRig,
  stopRelayRigs,
} from '../../test/relayRig.ts';
import { captureRejection } from '../../test/toolcallRig.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { completeServer } from './read.ts';

afterEach(stopRelayRigs);

const eras = ['legacy', 'modern'] as const;
const prompt = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'a' } };

describe('a completion', () => {
  for (const era of eras) {
    test(`comes from a ${era} server, with what is known already`, async () => {
      const completion = { values: ['ann'], total: 1, hasMore: false };
      const methods = { 'completion/complete': () => ({ completion }) };
      const { server, parts, inbound } = await createRelayRig({
        era,
        methods,
        capabilities: { completions: {} },
      });
      const context = { arguments: { greeting: 'hi' } };
      const { result } = await completeServer(parts, 'odd', { ...prompt, context }, inbound());
      expect(result).toMatchObject({ completion });
      expect(server.received('completion/complete')[0]!.message!.params).toMatchObject({
        ...prompt,
        context,
      });
    });

    test(`of a ${era} server that completes nothing is empty`, async () => {
      const { parts, inbound } = await createRelayRig({ era });
      const { result } = await completeServer(parts, 'odd', prompt, inbound());
      expect(result).toEqual({ completion: { values: [], total: 0, hasMore: false } });
    });
  }

  test('of what the server does not have, or is not seen, does not exist', async () => {
    const methods = {
      'completion/complete': () => {
        throw scriptedError(-32602, 'Unknown prompt');
      },
    };
    const { parts, inbound, rig } = await createRelayRig({ era: 'legacy', methods });
    const failed = () => captureRejection(completeServer(parts, 'odd', prompt, inbound()));
    expect(await failed()).toMatchObject({ code: 'MCP_PROMPT_NOT_FOUND' });
    rig.canSee = () => false;
    expect(await failed()).toMatchObject({ code: 'MCP_PROMPT_NOT_FOUND' });
  });
});

describe('the log of a server', () => {
  const loud: ScriptedTool = {
    name: 'loud',
    handler: async (_, call) => {
      for (const level of ['debug', 'info', 'error']) call.log(level, level);
      return { content: [] };
    },
  };
  const logging = { tools: [loud], capabilities: { tools: {}, logging: {} } };
  const receivedAt = (logLevel: string) => {
    const received: unknown[] = [];
    const peer = { ...createRecordingPeer({}).peer, logLevel };
    return {
      received,
      inbound: { peer, onLog: (params: JsonObject) => void received.push(params['level']) },
    };
  };

  test('of a legacy session is as verbose as anybody wants; each hears their own', async () => {
    const methods = { 'logging/setLevel': () => ({}) };
    const { call, server } = await createRelayRig({ era: 'legacy', ...logging, methods });
    const [all, some, few] = [receivedAt('debug'), receivedAt('info'), receivedAt('error')];
    await call('loud', { principal: bobPrincipal, ...few.inbound });
    await call('loud', { principal: annPrincipal, ...all.inbound });
    await call('loud', { principal: bobPrincipal, ...some.inbound });
    expect([few.received, all.received, some.received]).toEqual([
      ['error'],
      ['debug', 'info', 'error'],
      ['info', 'error'],
    ]);
    const levels = server.received('logging/setLevel').map(({ message }) => message!.params!['level']);
    expect(levels).toEqual(['error', 'debug']);
  });

  test('of a legacy server that has none is not asked for', async () => {
    const { call, server } = await createRelayRig({ era: 'legacy', tools: [loud] });
    await call('loud', receivedAt('debug').inbound);
    expect(server.received('logging/setLevel')).toEqual([]);
  });

  test('is asked of a modern server with the request itself', async () => {
    const { call, server } = await createRelayRig({ era: 'modern', ...logging });
    const few = receivedAt('error');
    await call('loud', few.inbound);
    expect(few.received).toEqual(['error']);
    const meta = server.received('tools/call')[0]!.message!.params!['_meta'] as JsonObject;
    expect(meta['io.modelcontextprotocol/logLevel']).toBe('error');
  });
});
