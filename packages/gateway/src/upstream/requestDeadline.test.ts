import { type ScriptedCall, createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../test/httpRig.ts';
import type { Dialogue } from './dialogue.ts';
import type { JsonObject } from './upstream.ts';

afterEach(stopHttpRigs);

/** Lets what was answered be heard. */
const turns = () => new Promise((resolve) => setImmediate(resolve));

const echo = { name: 'echo' };

describe('waiting for an answer', () => {
  test('progress moves the silence, but not the total', async () => {
    const clock = createFakeClock();
    let call: { progress(n: number): void } | undefined;
    const { open } = await createHttpRig(
      {
        era: 'legacy',
        tools: [
          {
            name: 'slow',
            handler: (_, input) => {
              call = input;
              return new Promise(() => undefined);
            },
          },
        ],
      },
      { clock },
    );
    const upstream = await open();
    const receivedNotifications: JsonObject[] = [];
    const onProgress = (params: JsonObject) => void receivedNotifications.push(params);
    let settled = false;
    const failure = expectUpstreamError(
      callHttpTool(upstream, 'slow', {}, { timeoutMs: 3_000, totalMs: 8_500, onProgress }),
    ).finally(() => (settled = true));
    await eventually('it runs', () => call);
    for (let second = 1; second <= 8; second += 1) {
      await clock.advance(1_000);
      call!.progress(second);
      await eventually('progress', () => receivedNotifications.length === second);
    }
    expect(settled).toBe(false);
    await clock.advance(500);
    expect((await failure).reason).toBe('timeout');
  });

  test('a person may take longer than the server, but not for ever', async () => {
    const clock = createFakeClock();
    const asks = {
      name: 'asks',
      handler: async (_: JsonObject, call: ScriptedCall) => {
        const { result } = await call.sendRequest('elicitation/create', { message: 'Well?' });
        if ((result as JsonObject)['action'] === 'accept') return { content: [] };
        return new Promise<never>(() => undefined);
      },
    };
    const { open } = await createHttpRig({ era: 'legacy', tools: [asks] }, { clock });
    const upstream = await open();
    const answers: ((answer: JsonObject) => void)[] = [];
    const dialogue: Dialogue = {
      era: 'legacy',
      capabilities: { elicitation: { form: {} } },
      sendRequest: () => new Promise((resolve) => answers.push(resolve)),
    };
    const limits = { timeoutMs: 3_000, totalMs: 8_500, dialogue };
    const patient = callHttpTool(upstream, 'asks', {}, limits);
    await eventually('it is asked', () => answers.length === 1);
    await clock.advance(500_000);
    answers[0]!({ action: 'accept' });
    expect((await patient).result).toMatchObject({ content: [] });

    const silent = expectUpstreamError(callHttpTool(upstream, 'asks', {}, limits));
    await eventually('it is asked again', () => answers.length === 2);
    await clock.advance(500_000);
    answers[1]!({ action: 'decline' });
    await turns();
    // The silence begins anew with the answer.
    await clock.advance(3_000);
    expect((await silent).reason).toBe('timeout');

    const endless = expectUpstreamError(callHttpTool(upstream, 'asks', {}, limits));
    await eventually('it is asked once more', () => answers.length === 3);
    await clock.advance(600_000);
    expect((await endless).reason).toBe('timeout');
  });

  test('without progress the silence ends it', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig(
      { era: 'legacy', tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }] },
      { clock },
    );
    const upstream = await open();
    const failure = expectUpstreamError(
      callHttpTool(upstream, 'slow', {}, { timeoutMs: 3_000, totalMs: 60_000 }),
    );
    await eventually('it runs', () => server.received('tools/call')[0]);
    await clock.advance(3_000);
    expect(await failure).toMatchObject({ reason: 'timeout', outcome: 'unknown', code: 'MCP_TIMEOUT' });
    const cancelled = await eventually(
      'the server is told',
      () => server.received('notifications/cancelled')[0],
    );
    expect(cancelled.message!.params!['requestId']).toBe(server.received('tools/call')[0]!.message!.id);
  });

  test('legacy: the server is told, and the caller leaves at once', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
    });
    const upstream = await open();
    const caller = new AbortController();
    const headers = { authorization: 'Bearer mine' };
    const call = callHttpTool(upstream, 'slow', {}, { signal: caller.signal, headers });
    const sent = await eventually('it runs', () => server.received('tools/call')[0]);
    const reason = new Error('enough');
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    const cancellation = await eventually(
      'the server is told',
      () => server.received('notifications/cancelled')[0],
    );
    expect(cancellation.message!.params).toMatchObject({
      requestId: sent.message!.id,
      reason: expect.any(String),
    });
    expect(cancellation.headers).toMatchObject({ ...headers, 'mcp-session-id': [...server.sessions][0] });
    expect((await callHttpTool(upstream, 'nothing').catch((error: unknown) => error)) as Error).toMatchObject(
      {
        reason: 'rpc_error',
      },
    );
  });

  test('modern: the exchange is closed, and nothing else is sent', async () => {
    const { server, open } = await createHttpRig({
      era: 'modern',
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
    });
    const upstream = await open();
    const caller = new AbortController();
    const call = callHttpTool(upstream, 'slow', {}, { signal: caller.signal });
    const sent = await eventually('it runs', () => server.received('tools/call')[0]);
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('the exchange is closed', () => sent.aborted);
    expect(server.received('notifications/cancelled')).toEqual([]);
  });

  test('who left before it began sends nothing', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [echo] });
    const upstream = await open();
    await expect(callHttpTool(upstream, 'echo', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.received('tools/call')).toEqual([]);
  });
});
