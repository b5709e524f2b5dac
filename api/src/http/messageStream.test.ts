import { type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createMessageStream } from './sse.ts';

describe('a reader that does not keep up', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** A stream whose client does not read before it is told to, and what it has read. */
  async function open() {
    const clock = createFakeClock();
    let res: ServerResponse | undefined;
    const server: Server = createServer((_req, answer) => {
      res = answer;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    closing.push(() => (socket.destroy(), server.closeAllConnections(), server.close()));
    const read = { text: '' };
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('it is asked', () => res !== undefined);
    const stream = createMessageStream(res!, { clock, headers: [] });
    const readOn = () => {
      socket.on('data', (chunk: Buffer) => (read.text += chunk.toString('latin1')));
      socket.resume();
    };
    /** More than the connection takes without a reader. */
    const fill = async () => {
      for (let left = 0; left < 1024 * 1024; left = res!.writableLength) {
        for (let n = 0; n < 16; n += 1) stream.send(JSON.stringify({ x: 'x'.repeat(256 * 1024) }));
        await clock.advance(0);
      }
    };
    return { clock, stream, res: res!, read, readOn, fill };
  }

  test('is told the last of each when it reads on', async () => {
    const { stream, res, read, readOn, fill } = await open();
    await fill();
    const before = res.writableLength;
    for (let n = 0; n < 1_000; n += 1) {
      stream.sendLatest('tools', JSON.stringify({ tools: n }));
      stream.sendLatest(`uri ${n % 50}`, JSON.stringify({ uri: n }));
    }
    expect(res.writableLength).toBe(before);
    readOn();
    await eventually('it is told', () => read.text.includes('{"uri":999}'));
    const received = [...read.text.matchAll(/data: (\{"(?:tools|uri)":\d+\})/g)].map(([, text]) => text);
    expect([received.length, received.includes('{"tools":999}')]).toEqual([51, true]);
    stream.sendLatest('tools', '{"tools":1000}');
    await eventually('and at once from then on', () => read.text.includes('{"tools":1000}'));
    stream.close();
  });

  test('makes us keep no more than there are lists and resources', async () => {
    const { stream, read, readOn, fill } = await open();
    await fill();
    for (let n = 0; n < 10_000; n += 1) stream.sendLatest(`uri ${n}`, `{"uri":${n}}`);
    readOn();
    await eventually('it is told', () => read.text.includes('{"uri":127}'));
    stream.send('{"last":1}');
    await eventually('all of it', () => read.text.includes('{"last":1}'));
    expect(read.text.match(/"uri"/g)).toHaveLength(128);
    stream.close();
  });

  test('is left at once when another reads in its place', async () => {
    const { stream, res, fill } = await open();
    await fill();
    stream.end({ isReplaced: true });
    expect(res.destroyed).toBe(true);
  });

  test('is left when it does not read the end either', async () => {
    const { clock, stream, res, fill } = await open();
    await fill();
    stream.end();
    await clock.advance(59_000);
    expect(res.destroyed).toBe(false);
    await clock.advance(2_000);
    expect(res.destroyed).toBe(true);
  });
});
