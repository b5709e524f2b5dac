import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createEventStream, type EventStream } from './sse.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A stream and a reader who reads when told to. */
async function begin() {
  const clock = createFakeClock();
  let stream: EventStream | undefined;
  let answer: ServerResponse | undefined;
  const server = createServer((_req, res) => {
    answer = res;
    stream = createEventStream(res, { clock, headers: { 'Content-Location': '/here' } });
    stream.open();
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const asking = request({ port });
  const received = new Promise<IncomingMessage>((resolve) => asking.once('response', resolve));
  asking.end();
  const response = await received;
  response.pause().on('error', () => undefined);
  return { clock, stream: stream!, answer: answer!, response };
}

const LARGE = 'x'.repeat(8 * 1024 * 1024);

describe('events that must arrive', () => {
  test('the headers come at once, the events in order, none of them lost', async () => {
    const { stream, response } = await begin();
    expect([response.headers['content-location'], stream.isStarted]).toEqual(['/here', true]);
    let text = '';
    void stream.send('one', LARGE);
    // There is no room: this one may be missed, and the next may not.
    stream.sendIfReady('hint', 1);
    const sent = stream.send('two', 2);
    let hasRoom = false;
    void sent.then(() => (hasRoom = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasRoom).toBe(false);
    response
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .resume();
    await sent;
    stream.sendIfReady('hint', 2);
    stream.end('three', '3');
    await eventually('the end', () => response.complete);
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'one',
      'two',
      'hint',
      'three',
    ]);
    expect(text).toContain('event: hint\ndata: 2\n\n');
  });

  test('a reader who does not read for a minute is left', async () => {
    const { stream, clock, answer } = await begin();
    const sent = stream.send('one', LARGE);
    await clock.advance(59_000);
    expect(answer.destroyed).toBe(false);
    await clock.advance(1_000);
    expect(answer.destroyed).toBe(true);
    // Who is gone has room for everything: nobody waits for them.
    await sent;
    await stream.send('two', 2);
    stream.close();
  });

  test('one that reads in time is not', async () => {
    const { stream, clock, answer, response } = await begin();
    const sent = stream.send('one', LARGE);
    await clock.advance(59_000);
    response.resume();
    await sent;
    await clock.advance(10 * 60_000);
    expect(answer.destroyed).toBe(false);
    stream.end('two', '2');
  });
});
