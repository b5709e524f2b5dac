import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import fc from 'fast-check';
import {
  createEgressRig,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
  type EgressRigOptions,
} from '../test/rig.ts';
import { createEventStreamGuard, isEventStream } from './httpExchange.ts';
import type { EgressError } from './errors.ts';

const dns = { 'a.example': [PUBLIC] };

/** A server that hands each response to the test. */
async function open(options: EgressRigOptions = {}) {
  const responses: ServerResponse[] = [];
  const closed: boolean[] = [];
  const port = await startHttpServer((request, response) => {
    request.resume();
    response.on('close', () => closed.push(!response.writableFinished));
    responses.push(response);
  });
  const rig = createEgressRig({ dns, loopbackPorts: port, ...options });
  return { ...rig, responses, closed };
}

const next = (responses: ServerResponse[]) => eventually('a request arrives', () => responses.shift());

afterEach(stopServers);

describe('timeouts', () => {
  test('a connection that does not come about in time is given up', async () => {
    const clock = createFakeClock();
    let aborted = false;
    const { egress } = createEgressRig({
      dns,
      clock,
      dial: (_target, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(new Error('aborted'));
          });
        }),
    });
    const reason = reasonOf(
      egress.fetchFor({ audience: 'user-server', timeouts: { connectMs: 5_000 } })('http://a.example'),
    );
    await clock.advance(4_999);
    expect(aborted).toBe(false);
    await clock.advance(1);
    expect([await reason, aborted]).toEqual(['connect_timeout', true]);
  });

  test('a resolver that hangs counts as connecting', async () => {
    const clock = createFakeClock();
    const { egress, dials } = createEgressRig({
      clock,
      dns: { 'a.example': () => new Promise(() => undefined) as never },
    });
    const reason = reasonOf(egress.fetchFor({ audience: 'user-server' })('http://a.example'));
    await clock.advance(10_000);
    expect([await reason, dials]).toEqual(['connect_timeout', []]);
  });

  test('an answer that does not begin in time is given up', async () => {
    const clock = createFakeClock();
    const { egress, responses, closed } = await open({ clock });
    const reason = reasonOf(
      egress.fetchFor({ audience: 'user-server', timeouts: { headersMs: 900 } })('http://a.example'),
    );
    await next(responses);
    await clock.advance(899);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(await reason).toBe('headers_timeout');
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('an answer that does not end in time is given up, even when nobody reads it', async () => {
    const clock = createFakeClock();
    const { egress, responses, closed } = await open({ clock });
    const promise = egress.fetchFor({ audience: 'user-server', timeouts: { totalMs: 5_000 } })(
      'http://a.example',
    );
    const server = await next(responses);
    server.write('some');
    const response = await promise;
    await clock.advance(4_999);
    server.write('more');
    await clock.advance(1);
    await eventually('the socket is closed', () => closed.length === 1);
    expect(await reasonOf(response.text())).toBe('total_timeout');
  });

  test('redirects share one total', async () => {
    const clock = createFakeClock();
    const { egress, responses } = await open({ clock });
    const timeouts = { totalMs: 5_000, headersMs: 4_000 };
    const reason = reasonOf(egress.fetchFor({ audience: 'user-server', timeouts })('http://a.example'));
    const first = await next(responses);
    await clock.advance(3_000);
    first.writeHead(307, { location: '/next' }).end();
    await next(responses);
    await clock.advance(2_000);
    expect(await reason).toBe('total_timeout');
  });

  test('a body that falls silent is given up; one that goes on is not', async () => {
    const clock = createFakeClock();
    const { egress, responses } = await open({ clock });
    const promise = egress.fetchFor({
      audience: 'user-server',
      timeouts: { idleMs: 1_000, totalMs: 1_500 },
    })('http://a.example');
    const server = await next(responses);
    server.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 0\n\n');
    const reader = (await promise).body!.getReader();
    await reader.read();
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(900);
      server.write('data: 1\n\n');
      await reader.read();
    }
    const reason = reasonOf(reader.read());
    await clock.advance(1_000);
    expect(await reason).toBe('idle_timeout');
  });

  test("the caller's signal ends the request in every phase with its own reason", async () => {
    const mine = new Error('mine');
    const hanging = createEgressRig({ dns, dial: () => new Promise(() => undefined) });
    const controller = new AbortController();
    const connecting = hanging.egress.fetchFor({ audience: 'user-server' })('http://a.example', {
      signal: controller.signal,
    });
    await eventually('the dial begins', () => hanging.dials.length === 1);
    controller.abort(mine);
    await expect(connecting).rejects.toBe(mine);
    await expect(
      hanging.egress.fetchFor({ audience: 'user-server' })('http://a.example', {
        signal: controller.signal,
      }),
    ).rejects.toBe(mine);

    const { egress, responses, closed } = await open();
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const waiting = new AbortController();
    const headers = fetch('http://a.example', { signal: waiting.signal });
    await next(responses);
    waiting.abort(mine);
    await expect(headers).rejects.toBe(mine);
    await eventually('the socket is closed', () => closed.length === 1);

    const reading = new AbortController();
    const promise = fetch('http://a.example', { signal: reading.signal });
    (await next(responses)).write('some');
    const text = (await promise).text();
    reading.abort(mine);
    await expect(text).rejects.toBe(mine);
    await eventually('the socket is closed', () => closed.length === 2);
  });
});

describe('size limits', () => {
  const limits = { bodyBytes: 1_000, sseLineBytes: 100 };

  test('a declared length over the limit fails before a byte is read', async () => {
    const { egress, responses, closed } = await open();
    const promise = egress.fetchFor({ audience: 'user-server', limits })('http://a.example');
    (await next(responses)).writeHead(200, { 'content-length': '1001' }).write('x');
    await expect(promise).rejects.toThrow('1000 bytes');
    expect(await reasonOf(promise)).toBe('body_too_large');
    await eventually('the socket is closed', () => closed.length === 1);
  });

  test('a chunked body fails as soon as it passes the limit, whole or streamed', async () => {
    const { egress, responses, closed } = await open();
    const fetch = egress.fetchFor({ audience: 'user-server', limits });
    for (const read of [
      (r: Response) => r.text(),
      (r: Response) => new Response(r.body).text(),
      (r: Response) => r.json(),
    ]) {
      const promise = fetch('http://a.example');
      const server = await next(responses);
      server.write('x'.repeat(1_000));
      const reason = reasonOf(promise.then(read));
      server.write('y');
      expect(await reason).toBe('body_too_large');
    }
    await eventually('the sockets are closed', () => closed.length === 3);
    const exact = fetch('http://a.example');
    (await next(responses)).end('x'.repeat(1_000));
    expect(await (await exact).text()).toHaveLength(1_000);
  });

  test('the default limit is 16 MiB', async () => {
    const { egress, responses } = await open();
    const promise = egress.fetchFor({ audience: 'user-server' })('http://a.example');
    (await next(responses)).writeHead(200, { 'content-length': String(16 * 1024 * 1024 + 1) }).write('x');
    await expect(promise).rejects.toThrow(String(16 * 1024 * 1024));
  });

  test('a line over the limit fails promptly and names the limit', async () => {
    const { egress, responses } = await open();
    const promise = egress.fetchFor({ audience: 'user-server', limits })('http://a.example');
    const server = await next(responses);
    server.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: fine\n\n');
    const reader = (await promise).body!.getReader();
    await reader.read();
    server.write('x'.repeat(101));
    const error: unknown = await reader.read().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      reason: 'sse_line_too_large',
      message: expect.stringContaining('100 bytes'),
    });
  });

  test('an event that never ends is capped; a stream of many events is not', async () => {
    const { egress, responses } = await open();
    const fetch = egress.fetchFor({ audience: 'user-server', limits });
    const run = async (text: string) => {
      const promise = fetch('http://a.example');
      (await next(responses)).writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
      return reasonOf(promise.then((r) => r.text()));
    };
    expect(await run('data: 0123456789\n\n'.repeat(500))).toBe('no error');
    expect(await run('data: 0123456789\r\n\r\n'.repeat(500))).toBe('no error');
    expect(await run('data: 0123456789\n'.repeat(500))).toBe('body_too_large');
    expect(await run('data: 0123456789\r\n'.repeat(500))).toBe('body_too_large');
  });

  test('how a stream is cut into chunks changes nothing', () => {
    const piece = fc.constantFrom('\r', '\n', '\r\n', '\n\n', 'a', 'bbbb', 'x'.repeat(9));
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (pieces, cuts) => {
          const bytes = Buffer.from(pieces.join(''));
          const small = { sseLineBytes: 12, bodyBytes: 30 };
          const whole = createEventStreamGuard('h', small)(bytes)?.reason;
          const guard = createEventStreamGuard('h', small);
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ];
          let cut: EgressError | undefined;
          for (let i = 1; i < at.length; i += 1) cut ??= guard(bytes.subarray(at[i - 1], at[i]));
          expect(cut?.reason).toBe(whole);
          const longest = Math.max(
            ...bytes
              .toString()
              .split(/[\r\n]/)
              .map((line) => line.length),
          );
          if (longest > 12) expect(whole).toBeDefined();
        },
      ),
    );
  });

  test('an event is delivered while the stream is open', async () => {
    const { egress, responses } = await open();
    const promise = egress.fetchFor({ audience: 'user-server' })('http://a.example');
    const server = await next(responses);
    server.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).write('data: now\n\n');
    const reader = (await promise).body!.getReader();
    const event = await reader.read();
    expect(Buffer.from(event.value as Uint8Array).toString()).toBe('data: now\n\n');
    expect(server.writableEnded).toBe(false);
    await reader.cancel();
    await eventually('the socket is closed', () => server.destroyed);
  });

  test('only the exact media type is a stream', async () => {
    const stream = [
      'text/event-stream',
      'Text/Event-Stream',
      ' text/event-stream ;charset=utf-8',
      'text/event-stream;x',
    ];
    const none = [
      'text/event-streams',
      'application/json; note=text/event-stream',
      'x-text/event-stream',
      'text/plain',
      '',
    ];
    for (const type of stream) expect([type, isEventStream(type)]).toEqual([type, true]);
    for (const type of none) expect([type, isEventStream(type)]).toEqual([type, false]);
    const { egress, responses } = await open();
    const fetch = egress.fetchFor({ audience: 'user-server', limits });
    const promise = fetch('http://a.example');
    const type = 'application/json; note=text/event-stream';
    (await next(responses)).writeHead(200, { 'content-type': type }).end('data: x\n\n'.repeat(200));
    expect(await reasonOf(promise.then((r) => r.text()))).toBe('body_too_large');
  });

  test('a compressed answer, which could hide its size, is refused', async () => {
    const { egress, responses } = await open();
    const promise = egress.fetchFor({ audience: 'user-server' })('http://a.example', {
      headers: { 'accept-encoding': 'gzip' },
    });
    const server = await next(responses);
    expect(server.req.headers['accept-encoding']).toBe('identity');
    server.writeHead(200, { 'content-encoding': 'gzip' }).write('x');
    expect(await reasonOf(promise)).toBe('encoded_response');
  });
});
