import { afterEach, describe, expect } from '@jest/globals';
import { createFakeClock, eventually, verifies } from '@behalf/testkit';
import { callTool, createHttpRig, failureOf, stopHttpRigs } from '../../../test/httpRig.ts';
import type { Json } from '../upstream.ts';

afterEach(stopHttpRigs);

const echo = { name: 'echo' };

describe('waiting for an answer', () => {
  verifies('http.request.progress-resets', 'progress moves the silence, but not the total', async () => {
    const clock = createFakeClock();
    let call: { progress(n: number): void } | undefined;
    const { open } = await createHttpRig(
      {
        era: 'legacy',
        tools: [
          {
            name: 'slow',
            handler: (_, given) => {
              call = given;
              return new Promise(() => undefined);
            },
          },
        ],
      },
      { clock },
    );
    const upstream = await open();
    const heard: Json[] = [];
    const onProgress = (params: Json) => void heard.push(params);
    let settled = false;
    const failure = failureOf(
      callTool(upstream, 'slow', {}, { timeoutMs: 3_000, totalMs: 8_500, onProgress }),
    ).finally(() => (settled = true));
    await eventually('it runs', () => call);
    for (let second = 1; second <= 8; second += 1) {
      await clock.advance(1_000);
      call!.progress(second);
      await eventually('progress', () => heard.length === second);
    }
    expect(settled).toBe(false);
    await clock.advance(500);
    expect((await failure).reason).toBe('timeout');
  });

  verifies('http.request.progress-resets', 'without progress the silence ends it', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig(
      { era: 'legacy', tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }] },
      { clock },
    );
    const upstream = await open();
    const failure = failureOf(callTool(upstream, 'slow', {}, { timeoutMs: 3_000, totalMs: 60_000 }));
    await eventually('it runs', () => server.received('tools/call')[0]);
    await clock.advance(3_000);
    expect(await failure).toMatchObject({ reason: 'timeout', outcome: 'unknown', code: 'MCP_TIMEOUT' });
    const cancelled = await eventually(
      'the server is told',
      () => server.received('notifications/cancelled')[0],
    );
    expect(cancelled.message!.params!['requestId']).toBe(server.received('tools/call')[0]!.message!.id);
  });

  verifies('http.request.aborted', 'legacy: the server is told, and the caller leaves at once', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
    });
    const upstream = await open();
    const caller = new AbortController();
    const headers = { authorization: 'Bearer mine' };
    const call = callTool(upstream, 'slow', {}, { signal: caller.signal, headers });
    const sent = await eventually('it runs', () => server.received('tools/call')[0]);
    const reason = new Error('enough');
    caller.abort(reason);
    await expect(call).rejects.toBe(reason);
    const told = await eventually('the server is told', () => server.received('notifications/cancelled')[0]);
    expect(told.message!.params).toMatchObject({ requestId: sent.message!.id, reason: expect.any(String) });
    expect(told.headers).toMatchObject({ ...headers, 'mcp-session-id': [...server.sessions][0] });
    expect((await callTool(upstream, 'nothing').catch((error: unknown) => error)) as Error).toMatchObject({
      reason: 'rpc_error',
    });
  });

  verifies('http.request.aborted', 'modern: the exchange is closed, and nothing else is sent', async () => {
    const { server, open } = await createHttpRig({
      era: 'modern',
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
    });
    const upstream = await open();
    const caller = new AbortController();
    const call = callTool(upstream, 'slow', {}, { signal: caller.signal });
    const sent = await eventually('it runs', () => server.received('tools/call')[0]);
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('the exchange is closed', () => sent.aborted);
    expect(server.received('notifications/cancelled')).toEqual([]);
  });

  verifies('http.request.aborted', 'who left before it began sends nothing', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [echo] });
    const upstream = await open();
    await expect(callTool(upstream, 'echo', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.received('tools/call')).toEqual([]);
  });
});
