import { hopHeader } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { captureRejection, createToolcallRig, defineServer } from '../../test/toolcallRig.ts';
import type { ServerSource } from '../definitions/definition.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import type { Inbound } from './inbound.ts';
import { listServer } from './list.ts';
import { readServer } from './read.ts';
import { MAX_CALL_MS } from './send.ts';

const trace = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'a=b',
  baggage: 'user=planted',
};

/** What goes with a call to a server of this definition. */
async function options(definition: JsonObject, more: Partial<Inbound> = {}, source: ServerSource = 'yaml') {
  const rig = createToolcallRig([defineServer('odd', definition, { source, author: 'u-ada' })]);
  await callTool(rig.parts, { server: 'odd', tool: 'echo', args: {} }, rig.inbound(more));
  return rig.calls()[0]!.options;
}

const named = { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } };

describe('what goes with a request', () => {
  test('the credential of who asks, with every request', async () => {
    const rig = createToolcallRig([defineServer('odd', named)]);
    const bob = { ...rig.inbound().principal, userId: 'u-bob' };
    for (const principal of [rig.inbound().principal, bob]) {
      const inbound = rig.inbound({ principal });
      await callTool(rig.parts, { server: 'odd', tool: 'echo', args: {} }, inbound);
      await readServer(rig.parts, 'odd', { method: 'resources/read', params: { uri: 'a:b' } }, inbound);
    }
    const shown = rig.sent.map(({ method, options }) => [method, options.headers]);
    const by = (user: string) =>
      ['tools/list', 'tools/call', 'resources/read'].map((method) => [
        method,
        { authorization: `key of ${user}` },
      ]);
    expect(shown).toEqual([...by('u-ada'), ...by('u-bob')]);
  });

  test('those of the definition for a shared server, none for a process', async () => {
    expect((await options({ headers: { 'X-Team': 'one' } })).headers).toEqual({ 'x-team': 'one' });
    expect('headers' in (await options({ command: 'node' }))).toBe(false);
  });

  test('baggage goes to the operator’s servers and to nobody else’s', async () => {
    for (const [definition, source, expectedMessage] of [
      [{}, 'yaml', true],
      [named, 'yaml', true],
      [named, 'config', true],
      [{ command: 'node' }, 'yaml', true],
      [{}, 'user', false],
    ] as const) {
      const { extraHeaders, meta } = await options(definition, { trace }, source);
      const expected = expectedMessage ? trace : { traceparent: trace.traceparent, tracestate: 'a=b' };
      expect([definition, source, extraHeaders, meta]).toEqual([definition, source, expected, expected]);
    }
    const bare = await options({});
    expect(['extraHeaders' in bare, 'meta' in bare]).toEqual([false, false]);
  });

  test('the hop count goes with whatever is asked for this caller alone', async () => {
    const hop = { [hopHeader]: '1;sealed' };
    for (const [definition, ofList] of [
      [named, hop],
      // A list that everybody waits for: one caller's count must not refuse it to the others.
      [{}, undefined],
    ] as const) {
      const rig = createToolcallRig([defineServer('odd', definition)]);
      const inbound = rig.inbound({ hop: '1;sealed' });
      await callTool(rig.parts, { server: 'odd', tool: 'echo', args: {} }, inbound);
      rig.answers = () => ({ prompts: [] });
      await listServer(rig.parts, 'odd', 'prompts/list', inbound);
      expect(rig.sent.map(({ method, options: { extraHeaders } }) => [method, extraHeaders])).toEqual([
        ['tools/list', ofList],
        ['tools/call', hop],
        ['prompts/list', hop],
      ]);
    }
  });

  test('nothing of one caller goes with a list that everybody waits for', async () => {
    const rig = createToolcallRig([defineServer('odd')]);
    const inbound = rig.inbound({ trace, onProgress: () => undefined, onLog: () => undefined });
    await callTool(rig.parts, { server: 'odd', tool: 'echo', args: {} }, inbound);
    const { extraHeaders, meta, onProgress, onLog } = rig.lists()[0]!.options;
    expect([extraHeaders, meta, onProgress, onLog]).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('progress prolongs a call up to a cap that is never below the timeout', async () => {
    expect(await options({ timeout: 1_000 })).toMatchObject({ timeoutMs: 1_000, totalMs: MAX_CALL_MS });
    expect(await options({ timeout: 400_000 })).toMatchObject({ timeoutMs: 400_000, totalMs: 400_000 });
  });

  test('who asks hears of progress, and ends the request by leaving', async () => {
    const notifications: JsonObject[] = [];
    const cancelReason = new Error('the reason why the wait is over');
    const rig = createToolcallRig([defineServer('odd')]);
    rig.answers = ({ options: { onProgress, onLog, signal } }) => {
      onProgress?.({ progress: 1 });
      onLog?.({ level: 'info' });
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(cancelReason));
        rig.leave();
      });
    };
    const inbound = rig.inbound({
      onProgress: (params) => notifications.push(params),
      onLog: (params) => notifications.push(params),
    });
    const error = await captureRejection(
      callTool(rig.parts, { server: 'odd', tool: 'echo', args: {} }, inbound),
    );
    expect(error).toBe(cancelReason);
    expect(notifications).toEqual([{ progress: 1 }, { level: 'info' }]);
  });

  test('every lease ends once, and learns how it went', async () => {
    const rig = createToolcallRig([defineServer('odd')]);
    const call = { server: 'odd', tool: 'echo', args: {} };
    await callTool(rig.parts, call, rig.inbound());
    const failure = new UpstreamError('reset');
    rig.answers = () => Promise.reject(failure);
    await captureRejection(callTool(rig.parts, call, rig.inbound()));
    const defect = new Error('a defect of ours');
    rig.answers = () => Promise.reject(defect);
    await captureRejection(callTool(rig.parts, call, rig.inbound()));
    await captureRejection(listServer(rig.parts, 'odd', 'prompts/list', rig.inbound()));
    rig.answers = () => Promise.reject(failure);
    await captureRejection(listServer(rig.parts, 'odd', 'prompts/list', rig.inbound()));
    expect(rig.leases).toHaveLength(6);
    expect(rig.released).toEqual([undefined, undefined, failure, defect, defect, failure]);
  });
});
