import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, scriptedError, type ScriptedTool } from '@behalf/testkit';
import {
  callHttpTool,
  createHttpRig,
  expectUpstreamError,
  requestOptions,
  stopHttpRigs,
} from '../../../test/httpRig.ts';
import type { JsonObject } from '../upstream.ts';

afterEach(stopHttpRigs);

const eras = ['legacy', 'modern'] as const;
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const echo: ScriptedTool = { name: 'echo', handler: ({ text: value }) => text(String(value)) };

describe('a request', () => {
  for (const era of eras) {
    for (const answers of ['json', 'sse'] as const) {
      test(`is answered as ${answers} in the ${era} era, with its text`, async () => {
        const { open } = await createHttpRig({ era, answers, tools: [echo] });
        const { result, json } = await callHttpTool(await open(), 'echo', { text: 'grüße' });
        expect(result).toMatchObject(text('grüße'));
        expect(JSON.parse(json!)).toEqual(result);
      });
    }

    test(`carries both media types and the version in the ${era} era`, async () => {
      const { server, open } = await createHttpRig({ era, tools: [echo] });
      await callHttpTool(await open(), 'echo', { text: 'x' });
      expect(server.received('tools/call')[0]!.headers).toMatchObject({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': era === 'modern' ? '2026-07-28' : '2025-11-25',
      });
    });

    test(`carries its own caller's credential, and nothing of another's, in the ${era} era`, async () => {
      const { server, open } = await createHttpRig({ era, tools: [echo] });
      const upstream = await open({}, { headers: { authorization: 'Bearer configured', 'x-team': 'blue' } });
      const [before] = server.requests;
      expect(before!.headers).toMatchObject({ authorization: 'Bearer configured', 'x-team': 'blue' });
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          callHttpTool(
            upstream,
            'echo',
            { text: String(n) },
            {
              headers: { authorization: `Bearer ${n}` },
              extraHeaders: { traceparent: `t-${n}`, authorization: 'Bearer forged' },
            },
          ),
        ),
      );
      const calls = server.received('tools/call');
      expect(calls).toHaveLength(40);
      for (const { headers, message } of calls) {
        const n = (message!.params!['arguments'] as { text: string }).text;
        expect(headers).toMatchObject({
          authorization: `Bearer ${n}`,
          traceparent: `t-${n}`,
          ...(era === 'legacy' && { 'x-team': 'blue' }),
        });
      }
      // Nothing of a caller stays behind.
      await callHttpTool(upstream, 'echo', { text: 'last' }, { headers: { authorization: 'Bearer last' } });
      expect(server.requests.at(-1)!.headers).toMatchObject({ authorization: 'Bearer last' });
      await callHttpTool(upstream, 'echo', { text: 'none' });
      const last = server.requests.at(-1)!.headers;
      // A modern one is everybody's: it keeps not even the headers of who opened it.
      expect(last['authorization']).toBe(era === 'legacy' ? 'Bearer configured' : undefined);
      expect(last['x-team']).toBe(era === 'legacy' ? 'blue' : undefined);
      expect(last['traceparent']).toBeUndefined();
    });

    test(`nobody replaces what the protocol says (${era})`, async () => {
      const { server, open } = await createHttpRig({ era, tools: [echo] });
      const forged = {
        'mcp-session-id': 'forged',
        'mcp-protocol-version': '1',
        'mcp-method': 'x',
        accept: 'x',
      };
      const upstream = await open();
      await callHttpTool(upstream, 'echo', { text: 'x' }, { headers: forged, extraHeaders: forged });
      const { headers } = server.received('tools/call')[0]!;
      expect(headers.accept).toBe('application/json, text/event-stream');
      expect(headers['mcp-protocol-version']).not.toBe('1');
      if (era === 'legacy') expect(headers['mcp-session-id']).toBe([...server.sessions][0]);
      else expect(headers['mcp-method']).toBe('tools/call');
    });

    test(`keeps the caller's _meta and sends its own token (${era})`, async () => {
      const { server, open } = await createHttpRig({ era, tools: [echo] });
      const upstream = await open();
      const meta = { traceparent: '00-a-b-01', progressToken: 'theirs' };
      const params = { name: 'echo', arguments: { text: 'x' }, _meta: { 'com.example/a': 1 } };
      await upstream.request('tools/call', params, requestOptions({ meta }));
      const { id, params: sent } = server.received('tools/call')[0]!.message!;
      expect(sent!['_meta']).toMatchObject({
        traceparent: '00-a-b-01',
        'com.example/a': 1,
        progressToken: id,
      });
      await callHttpTool(upstream, 'echo', { text: 'x' });
      const second = server.received('tools/call')[1]!.message!;
      expect((second.params!['_meta'] as JsonObject)['progressToken']).toBe(second.id);
      expect(second.id).not.toBe(id);
      expect(second.params).toMatchObject({ name: 'echo', arguments: { text: 'x' } });
    });

    test(`progress of its own token reaches its caller alone (${era})`, async () => {
      const open2: (() => void)[] = [];
      const slow: ScriptedTool = {
        name: 'slow',
        handler: async (_, call) => {
          const other = (call.params['_meta'] as { progressToken: number }).progressToken + 1;
          call.progress(1, 2);
          call.progress(9, 9, other);
          call.progress(9, 9, 'unknown');
          await new Promise<void>((resolve) => open2.push(resolve));
          return text('done');
        },
      };
      const { open } = await createHttpRig({ era, tools: [slow] });
      const upstream = await open();
      const receivedNotifications: JsonObject[][] = [[], []];
      const calls = receivedNotifications.map((list) =>
        callHttpTool(upstream, 'slow', {}, { onProgress: (params) => void list.push(params) }),
      );
      await eventually(
        'both wait',
        () => open2.length === 2 && receivedNotifications.every((list) => list.length > 0),
      );
      for (const end of open2) end();
      await Promise.all(calls);
      for (const list of receivedNotifications)
        expect(list).toEqual([expect.objectContaining({ progress: 1, total: 2 })]);
    });

    test(`a log message reaches only the caller of its request (${era})`, async () => {
      const chatty: ScriptedTool = {
        name: 'chatty',
        handler: ({ who }, call) => {
          call.log('info', who);
          return text('done');
        },
      };
      const { server, open } = await createHttpRig({ era, tools: [chatty] });
      const upstream = await open();
      const receivedNotifications = new Map<string, unknown[]>([
        ['a', []],
        ['b', []],
      ]);
      await Promise.all(
        [...receivedNotifications].map(([who, list]) =>
          callHttpTool(upstream, 'chatty', { who }, { onLog: ({ data }) => void list.push(data) }),
        ),
      );
      await callHttpTool(upstream, 'chatty', { who: 'nobody listens' });
      expect(Object.fromEntries(receivedNotifications)).toEqual({ a: ['a'], b: ['b'] });
      if (era === 'modern') {
        const levels = server
          .received('tools/call')
          .map(
            ({ message }) => (message!.params!['_meta'] as JsonObject)['io.modelcontextprotocol/logLevel'],
          );
        expect(levels).toEqual(['info', 'info', undefined]);
      }
    });

    test(`an error in an answer keeps its code and data (${era})`, async () => {
      const { open } = await createHttpRig({
        era,
        tools: [
          {
            name: 'broken',
            handler: () => {
              throw scriptedError(-32603, 'It broke', { why: 'x' });
            },
          },
        ],
      });
      const failure = await expectUpstreamError(callHttpTool(await open(), 'broken'));
      expect(failure).toMatchObject({
        reason: 'rpc_error',
        outcome: 'failed',
        detail: { rpc: { code: -32603, message: 'It broke', data: { why: 'x' } } },
      });
    });

    test(`-32042 says that input is wanted first (${era})`, async () => {
      const { open } = await createHttpRig({
        era,
        tools: [
          {
            name: 'asks',
            handler: () => {
              throw scriptedError(-32042, 'Open this', { elicitations: [] });
            },
          },
        ],
      });
      const failure = await expectUpstreamError(callHttpTool(await open(), 'asks'));
      expect(failure).toMatchObject({
        reason: 'input_required',
        outcome: 'refused',
        detail: { rpc: { code: -32042 } },
      });
    });
  }

  test('ping is answered, a form is dismissed, a model is refused', async () => {
    const answers: Record<string, unknown> = {};
    const asking: ScriptedTool = {
      name: 'asking',
      handler: async (_, call) => {
        for (const method of ['ping', 'elicitation/create', 'sampling/createMessage', 'roots/list']) {
          const { result, error } = await call.sendRequest(method, {});
          answers[method] = result ?? error?.code;
        }
        return text('done');
      },
    };
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [asking] });
    const headers = { authorization: 'Bearer mine' };
    await callHttpTool(await open(), 'asking', {}, { headers });
    expect(answers).toEqual({
      ping: {},
      'elicitation/create': { action: 'cancel' },
      'sampling/createMessage': -32601,
      'roots/list': -32601,
    });
    const replies = server.requests.filter(({ message }) => String(message?.id).startsWith('server-'));
    expect(replies).toHaveLength(4);
    for (const reply of replies) expect(reply.headers).toMatchObject(headers);
  });

  test('a flood of questions does not become a flood of requests', async () => {
    let held = 0;
    const flood: ScriptedTool = {
      name: 'flood',
      handler: async (_, call) => {
        for (let n = 0; n < 500; n += 1) void call.sendRequest('ping', {});
        await eventually('some are answered', () => held > 0);
        return text('done');
      },
    };
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [flood],
      respond: ({ message }) => {
        if (message?.method !== undefined) return undefined;
        held += 1;
        return 'hang';
      },
    });
    const upstream = await open();
    // The client has read every question when it has the answer that stands behind them.
    await callHttpTool(upstream, 'flood');
    for (let n = 0; n < 5; n += 1) await upstream.request('ping', {}, requestOptions());
    expect(held).toBeLessThanOrEqual(16);
    expect(server.received('tools/call')).toHaveLength(1);
  });

  test('a change that comes with an answer reaches who listens', async () => {
    const changing: ScriptedTool = {
      name: 'changing',
      handler: (_, call) => {
        call.notify('notifications/tools/list_changed', {});
        call.notify('notifications/resources/updated', { uri: 'secret://of-somebody' });
        return text('done');
      },
    };
    const { open } = await createHttpRig({ era: 'legacy', tools: [changing] });
    const upstream = await open();
    const receivedNotifications: string[] = [];
    upstream.listen(() => {
      throw new Error('a listener at fault');
    }, {});
    const stop = upstream.listen(({ method }) => void receivedNotifications.push(method), {});
    expect((await callHttpTool(upstream, 'changing')).result).toEqual(text('done'));
    expect(receivedNotifications).toEqual(['notifications/tools/list_changed']);
    stop();
    await callHttpTool(upstream, 'changing');
    expect(receivedNotifications).toHaveLength(1);
  });
});
