import { afterEach, describe, expect, test } from '@jest/globals';
import type { Send } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import { callHttpTool, createHttpRig, stopHttpRigs } from '../../../test/httpRig.ts';
import { sendBestEffort } from './legacyHandshake.ts';
import { createServerRequestResponder } from '../notifications.ts';

afterEach(stopHttpRigs);

/** A server that announces a body to everything and never sends one. */
function stalling() {
  const clock = createFakeClock();
  const state = { sent: 0, open: 0 };
  const send: Send = async ({ signal }) => {
    state.sent += 1;
    state.open += 1;
    return {
      status: 202,
      header: () => undefined,
      isEventStream: false,
      text: () => Promise.reject(new Error('nobody reads it')),
      chunks: () => {
        throw new Error('nobody reads it');
      },
      discard: () =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            state.open -= 1;
            resolve();
          }),
        ),
    };
  };
  const post = (body: string) =>
    sendBestEffort(
      { send, clock },
      { method: 'POST', url: 'http://a.example/', headers: {}, body },
      10_000,
      undefined,
    );
  return { clock, state, post };
}

describe('what is sent on the side', () => {
  test('ends with its time, also when only the body does not come', async () => {
    const { clock, state, post } = stalling();
    let over = false;
    const sending = post('{}').then(() => (over = true));
    await clock.advance(9_999);
    expect({ over, ...state }).toEqual({ over: false, sent: 1, open: 1 });
    await clock.advance(1);
    await sending;
    expect(state.open).toBe(0);
  });

  test('answers to a server count until their exchange is over', async () => {
    const { clock, state, post } = stalling();
    const answerer = createServerRequestResponder(post);
    for (let wave = 0; wave < 5; wave += 1) {
      for (let n = 0; n < 16; n += 1)
        answerer.respond({ id: `${wave}.${n}`, method: 'ping' }, { headers: {} });
      await clock.advance(1_000);
    }
    expect(state).toEqual({ sent: 16, open: 16 });
    await clock.advance(5_000);
    expect(state.open).toBe(0);
    answerer.respond({ id: 'later', method: 'ping' }, { headers: {} });
    expect(state.sent).toBe(17);
  });

  test('a cancellation and the end of a session leave no socket behind', async () => {
    const stalled: { readonly aborted: boolean }[] = [];
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
      respond(request) {
        if (request.verb !== 'DELETE' && request.message?.method !== 'notifications/cancelled')
          return undefined;
        stalled.push(request);
        return (response) => response.writeHead(202, { 'content-length': '5' }).flushHeaders();
      },
    });
    const upstream = await open();
    const caller = new AbortController();
    const call = callHttpTool(upstream, 'slow', {}, { signal: caller.signal });
    const rejected = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('it runs', () => server.received('tools/call')[0]);
    caller.abort();
    await rejected;
    await upstream.close();
    await eventually(
      'both are closed',
      () => stalled.length === 2 && stalled.every(({ aborted }) => aborted),
    );
  });
});
