import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock, type SendResponse } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import {
  createEgressRig,
  connectLoopback,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
} from '../test/rig.ts';
import { createSendRig, readText, flushEventLoop } from '../test/sendRig.ts';

const dns = { 'a.example': [PUBLIC] };

afterEach(stopServers);

describe('patience with an answer', () => {
  test('headers that do not come in time are given up', async () => {
    const clock = createFakeClock();
    const { sendRequest, nextResponse, closed } = await createSendRig({
      rig: { clock },
      timeouts: { headersMs: 900 },
    });
    const reason = reasonOf(sendRequest());
    await nextResponse();
    await clock.advance(899);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(await reason).toBe('headers_timeout');
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('a body that does not end in time is given up, also unread', async () => {
    const clock = createFakeClock();
    const { exchange, closed } = await createSendRig({ rig: { clock }, timeouts: { totalMs: 5_000 } });
    const reply = await exchange((response) => void response.write('some'));
    await clock.advance(4_999);
    expect(closed).toEqual([]);
    await clock.advance(1);
    await eventually('the socket is closed', () => closed.length === 1);
    expect(await reasonOf(reply.text())).toBe('total_timeout');
  });

  test('a stream that falls silent is given up; a live one goes on', async () => {
    const clock = createFakeClock();
    const timeouts = { idleMs: 1_000, totalMs: 1_500 };
    const { exchange, sendRequest, nextResponse } = await createSendRig({ rig: { clock }, timeouts });
    let server: ServerResponse | undefined;
    const reply = await exchange((response) => {
      server = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 0\n\n');
    });
    expect(reply.isEventStream).toBe(true);
    const stream = readText(reply);
    await stream.next();
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(900);
      server!.write('data: 1\n\n');
      expect((await stream.next()).value).toBe('data: 1\n\n');
    }
    const reason = reasonOf(stream.next());
    await clock.advance(1_000);
    expect(await reason).toBe('idle_timeout');
    const slow = reasonOf(sendRequest().then((plain) => plain.text()));
    (await nextResponse()).write('half');
    await clock.advance(1_000);
    expect(await slow).toBe('idle_timeout');
  });

  test('a request takes one timer, whatever the number of chunks', async () => {
    let timers = 0;
    const clock = {
      ...systemClock,
      timer: (...args: Parameters<typeof systemClock.timer>) => {
        timers += 1;
        return systemClock.timer(...args);
      },
    };
    const { exchange } = await createSendRig({ rig: { clock } });
    await (await exchange((response) => response.end('warm'))).text();
    await flushEventLoop();
    const before = timers;
    const reply = await exchange((response) => {
      for (let i = 0; i < 50; i += 1) response.write('x'.repeat(1_000));
      response.end();
    });
    expect(await reply.text()).toHaveLength(50_000);
    expect(timers - before).toBe(1);
  });

  test("the caller's signal ends it in every phase with its own reason", async () => {
    const mine = new Error('mine');
    const hanging = await createSendRig({ rig: { dial: () => new Promise(() => undefined) } });
    const connecting = new AbortController();
    const dialling = hanging.sendRequest(connecting.signal);
    await eventually('the dial begins', () => hanging.dials.length === 1);
    connecting.abort(mine);
    await expect(dialling).rejects.toBe(mine);
    await expect(hanging.sendRequest(connecting.signal)).rejects.toBe(mine);
    expect(hanging.dials).toHaveLength(1);

    const { sendRequest, nextResponse, closed } = await createSendRig();
    const waiting = new AbortController();
    const headers = sendRequest(waiting.signal);
    await nextResponse();
    waiting.abort(mine);
    await expect(headers).rejects.toBe(mine);
    await eventually('the socket is closed', () => closed.length === 1);

    const reading = new AbortController();
    const reply = sendRequest(reading.signal);
    (await nextResponse()).write('some');
    const text = (await reply).text();
    reading.abort(mine);
    await expect(text).rejects.toBe(mine);
    await eventually('the socket is closed', () => closed.length === 2);

    const streaming = new AbortController();
    const opened = sendRequest(streaming.signal);
    (await nextResponse()).writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    const stream = readText(await opened);
    await stream.next();
    streaming.abort(mine);
    await expect(stream.next()).rejects.toBe(mine);
    await eventually('the socket is closed', () => closed.length === 3);
  });

  test('an abort while connecting means that nothing is sent', async () => {
    let connect: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (connect = resolve));
    const { port, hits } = await counting();
    const { egress, dials } = createEgressRig({
      dns,
      dial: async () => {
        await gate;
        return connectLoopback(port);
      },
    });
    const controller = new AbortController();
    const send = egress.sendFor({ audience: 'user-server' });
    const request = { method: 'POST', url: 'http://a.example/', headers: {}, body: '{}' } as const;
    const sent = send({ ...request, signal: controller.signal });
    await eventually('the dial begins', () => dials.length === 1);
    controller.abort(new Error('mine'));
    await expect(sent).rejects.toThrow('mine');
    connect!();
    await (await send({ ...request, signal: new AbortController().signal })).text();
    expect(hits()).toBe(1);
  });
});

async function counting() {
  let hits = 0;
  const port = await startHttpServer((request, response) => {
    hits += 1;
    request.resume();
    response.end('ok');
  });
  return { port, hits: () => hits };
}

describe('size of an answer', () => {
  const limits = { bodyBytes: 1_000, sseLineBytes: 100 };

  test('a declared length over the limit fails before a byte is read', async () => {
    const { exchange, closed } = await createSendRig({ limits });
    const reason = reasonOf(
      exchange((response) => void response.writeHead(200, { 'content-length': '1001' }).write('x')),
    );
    expect(await reason).toBe('body_too_large');
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('a chunked body fails at the limit, whole, in pieces or unread', async () => {
    const readers: ((reply: SendResponse) => Promise<unknown>)[] = [
      (reply) => reply.text(),
      async (reply) => {
        for await (const _ of reply.chunks());
      },
    ];
    for (const reader of readers) {
      const { exchange, closed } = await createSendRig({ limits });
      let server: ServerResponse | undefined;
      const reply = await exchange((response) => {
        server = response;
        response.write('x'.repeat(1_000));
      });
      const reason = reasonOf(reader(reply));
      server!.write('y');
      expect(await reason).toBe('body_too_large');
      await eventually('the socket is closed', () => closed.length === 1);
    }
    const { exchange } = await createSendRig({ limits });
    const exact = await exchange((response) => response.end('x'.repeat(1_000)));
    expect(await exact.text()).toHaveLength(1_000);
  });

  test('lines and events of a stream are capped, its sum is not', async () => {
    const { exchange } = await createSendRig({ limits });
    const run = async (text: string) => {
      const reply = await exchange((response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text),
      );
      return reasonOf(reply.text());
    };
    expect(await run('data: 0123456789\n\n'.repeat(500))).toBe('no error');
    expect(await run('data: 0123456789\n'.repeat(500))).toBe('body_too_large');
    expect(await run(`data: ${'x'.repeat(101)}\n\n`)).toBe('sse_line_too_large');
  });

  test('a compressed answer is refused', async () => {
    const { exchange, closed } = await createSendRig({ limits });
    const reason = reasonOf(
      exchange((response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).write('x')),
    );
    expect(await reason).toBe('encoded_response');
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('a slow reader slows the server, not the heap', async () => {
    const { exchange } = await createSendRig();
    const piece = 'x'.repeat(64 * 1024);
    let written = 0;
    const reply = await exchange((response) => {
      const more = () => {
        while (written < 200) {
          written += 1;
          if (!response.write(piece)) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    const chunks = reply.chunks()[Symbol.asyncIterator]();
    await chunks.next();
    let last = -1;
    let still = 0;
    // The kernel's buffers take some; then nothing moves on its own.
    await eventually('the server stalls', () => {
      still = written === last ? still + 1 : 0;
      last = written;
      return still === 30;
    });
    expect(written).toBeLessThan(200);
    let total = 0;
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      total += step.value.length;
    }
    expect(written).toBe(200);
    expect(total).toBeGreaterThan(199 * piece.length);
  });
});

describe('the end of an answer', () => {
  test('a short body that nobody wants leaves its socket in use', async () => {
    const { exchange, dials, closed } = await createSendRig();
    for (let i = 0; i < 3; i += 1) {
      await (await exchange((response) => response.end('short'))).discard();
      await eventually('it is over', () => closed.length === i + 1);
      await flushEventLoop();
    }
    expect([dials.length, closed]).toEqual([1, [false, false, false]]);
  });

  test('a long body and a stream are closed when nobody wants them', async () => {
    for (const type of ['application/json', 'text/event-stream']) {
      const { exchange, closed } = await createSendRig({ rig: { clock: createFakeClock() } });
      const reply = await exchange((response) => {
        response.writeHead(200, { 'content-type': type });
        response.write(type === 'text/event-stream' ? 'data: 1\n\n' : 'x'.repeat(100_000));
      });
      await reply.discard();
      await eventually('the socket is closed', () => closed.length === 1);
    }
  });

  test('leaving in the middle of a stream closes it', async () => {
    const { exchange, closed } = await createSendRig();
    const reply = await exchange((response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'),
    );
    for await (const text of readText(reply)) {
      expect(text).toBe('data: 1\n\n');
      break;
    }
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('a connection that breaks says whether the request was sent', async () => {
    const { sendRequest, nextResponse, exchange } = await createSendRig();
    const before = sendRequest().catch((error: unknown) => error);
    (await nextResponse()).destroy();
    expect(await before).toMatchObject({ reason: 'connection_failed', requestSent: true });
    const half = await exchange((response) => {
      response.write('half', () => response.destroy());
    });
    expect(await reasonOf(half.text())).toBe('connection_failed');
    const refused = createEgressRig({ dns }).egress.sendFor({ audience: 'user-server' });
    const error: unknown = await refused({
      method: 'GET',
      url: 'http://a.example/',
      headers: {},
      signal: new AbortController().signal,
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'connection_failed', requestSent: false });
  });
});
