import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemRandom } from '@behalf/kernel';
import { createFakeClock, eventually, verifies } from '@behalf/testkit';
import { afterEach, describe, expect } from '@jest/globals';
import { createReplays } from './replays.ts';
import { createReply, type Reply, type ReplyOptions } from './reply.ts';
import { createVigil } from './vigil.ts';

const place = { tenant: 'default', principal: 'ada', key: 'session' };
const done = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

describe('an answer that takes its time', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** A request whose answer the test writes, and what its client has read. */
  async function ask(options: ReplyOptions, accept = 'application/json, text/event-stream') {
    const clock = createFakeClock();
    const mailbox = { post: () => Promise.resolve(), wait: () => () => undefined };
    const replays = createReplays({ clock, random: systemRandom, mailbox });
    const parts = { clock, headers: [], replays, vigil: createVigil(clock) };
    let reply: Reply | undefined;
    server = createServer((req, res) => {
      const json = (status: number, text: string) => void res.writeHead(status).end(text);
      reply = createReply({ req, res, json }, parts, options);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const read = { text: '', type: undefined as string | null | undefined };
    void fetch(`http://127.0.0.1:${port}`, { headers: { accept } }).then(async (response) => {
      read.type = response.headers.get('content-type');
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) read.text += decoder.decode(chunk as Uint8Array);
    });
    await eventually('it is asked', () => reply !== undefined);
    return { reply: reply!, read, replays, clock };
  }

  verifies('mcp.door.streams', 'is kept alive by comments, and by nothing before it is late', async () => {
    const { reply, read, clock } = await ask({ place: undefined, primes: false });
    await clock.advance(11_000);
    expect([reply.begun, read.type]).toEqual([false, undefined]);
    await clock.advance(30_000);
    await eventually('a comment comes', () => read.text.includes(': waiting\n\n'));
    expect(read.type).toBe('text/event-stream');
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text.endsWith(`event: message\ndata: ${done}\n\n`));
  });

  verifies('mcp.legacy.leaving', 'says after three seconds where it can be taken up again', async () => {
    const { reply, read, replays, clock } = await ask({ place, primes: true });
    await clock.advance(2_000);
    expect([reply.begun, replays.size]).toEqual([false, 0]);
    await clock.advance(2_000);
    await eventually('it says so', () => /^id: [\w-]{22}\.0\ndata: \n\n$/.test(read.text));
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text.includes(done));
    expect(replays.size).toBe(1);
    await clock.advance(61_000);
    expect(replays.size).toBe(0);
  });

  verifies('mcp.door.streams', 'never begins for a client that takes no events', async () => {
    const { reply, read, clock } = await ask({ place, primes: true }, 'application/json');
    await clock.advance(60_000);
    expect(reply.ask('q', 'elicitation/create', {})).toBe(false);
    reply.notify('notifications/message', {});
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text === done);
  });
});
