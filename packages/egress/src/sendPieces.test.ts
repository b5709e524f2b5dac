import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import { reasonOf, stopServers } from '../test/rig.ts';
import { createSendRig, flushEventLoop } from '../test/sendRig.ts';

afterEach(stopServers);

describe('an answer in tiny pieces', () => {
  test('a body cut very small is read whole, or refused by their number', async () => {
    const run = async (bodyBytes: number, count: number) => {
      const { exchange } = await createSendRig({ limits: { bodyBytes } });
      const reply = await exchange((response) => {
        response.socket!.setNoDelay(true);
        response.writeHead(200);
        for (let i = 0; i < count; i += 1) response.write(String(i % 10));
        response.end();
      });
      return reply.text();
    };
    const expected = Array.from({ length: 3_000 }, (_, i) => i % 10).join('');
    expect(await run(1_000_000, 3_000)).toBe(expected);
    expect(await reasonOf(run(3_000, 3_000))).toBe('body_too_large');
    expect(await run(3_000, 1_024)).toBe(expected.slice(0, 1_024));
  });

  test('what waits for a slow reader is a few pieces, not one for every byte', async () => {
    const { exchange } = await createSendRig();
    const reply = await exchange((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 20_000; i += 1) response.write('x');
      response.end();
    });
    const sizes: number[] = [];
    for await (const chunk of reply.chunks()) {
      sizes.push(chunk.length);
      // Long enough for everything to arrive.
      if (sizes.length === 1) for (let i = 0; i < 50; i += 1) await flushEventLoop();
    }
    expect(sizes.reduce((sum, size) => sum + size)).toBe(20_000);
    expect(sizes.length).toBeLessThan(2_000);
  });
});

describe('an answer that nobody wants', () => {
  test('a body that nobody wants and that never comes is cut off', async () => {
    const clock = createFakeClock();
    const day = 86_400_000;
    const timeouts = { headersMs: day, totalMs: day, idleMs: day };
    const { exchange, closed } = await createSendRig({ rig: { clock }, timeouts });
    const reply = await exchange((response) =>
      response.writeHead(202, { 'content-length': '5' }).flushHeaders(),
    );
    let over = false;
    const discarded = reply.discard().then(() => (over = true));
    await clock.advance(999);
    expect([over, closed.length]).toEqual([false, 0]);
    await clock.advance(1);
    await discarded;
    await eventually('the socket is closed', () => closed.length === 1);
    // One that ends in time leaves no timer behind that could close the next answer.
    const short = await exchange((response) => response.end('short'));
    await short.discard();
    const next = await exchange((response) => void response.write('half'));
    await clock.advance(5_000);
    expect(closed).toEqual([true, false]);
    void next.discard();
  });

  test('nor does a redirect hold up the one who follows it', async () => {
    const clock = createFakeClock();
    const { sendRequest, nextResponse, closed } = await createSendRig({ rig: { clock } });
    const reply = sendRequest();
    (await nextResponse()).writeHead(307, { location: '/there', 'content-length': '5' }).flushHeaders();
    await eventually('the wait for its body', async () => {
      await clock.advance(1_000);
      return closed.length === 1;
    });
    (await nextResponse()).end('there');
    expect(await (await reply).text()).toBe('there');
  });
});
