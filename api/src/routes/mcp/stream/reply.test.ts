import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createMessageStream } from '../../../http/sse.ts';
import { createSharedLists } from '../relay/sharedLists.ts';
import { type Reply, type ReplyOptions, createReply, createSharedTicker } from './reply.ts';
import { type StreamBufferLimits, createStreamBuffers } from './streamBuffer.ts';
import { createEventIds } from './streamRelay.ts';

const sessionKey = { tenant: 'default', principal: 'ada', key: 'session' };
const done = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

describe('an answer that takes its time', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** A request whose answer the test writes, and what its client has read. */
  async function ask(
    options: ReplyOptions,
    accept = 'application/json, text/event-stream',
    limits: Partial<StreamBufferLimits> = {},
  ) {
    const clock = createFakeClock();
    const mailbox = { post: () => Promise.resolve(), wait: () => () => undefined };
    const store = openMemoryStore({ clock, random: systemRandom });
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const cache = store.cache('mcp');
    const streamBuffers = createStreamBuffers({
      ...{ clock, random: systemRandom, keyring, mailbox, cache, changes: store.changes, replica: 'here' },
      lists: createSharedLists({ cache, clock, leases: store.leases }),
      eventIds: createEventIds(keyring),
      limits,
    });
    const callerWatch = { subscribe: () => () => undefined };
    const parts = { clock, headers: [], streamBuffers, callerWatch, ticker: createSharedTicker(clock) };
    let reply: Reply | undefined;
    let res: ServerResponse | undefined;
    server = createServer((req, answer) => {
      const last = req.headers['last-event-id'];
      if (typeof last === 'string') {
        streamBuffers.resume(sessionKey, last, createMessageStream(answer, parts));
        return;
      }
      res = answer;
      const json = (status: number, text: string) => void answer.writeHead(status).end(text);
      reply = createReply({ req, res: answer, json, caller: aPrincipal() }, parts, options);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = new AbortController();
    const reading = (headers: Record<string, string>) => {
      const read = { text: '', type: undefined as string | null | undefined, over: false };
      fetch(`http://127.0.0.1:${port}`, { headers, signal: client.signal })
        .then(async (response) => {
          read.type = response.headers.get('content-type');
          const decoder = new TextDecoder();
          for await (const chunk of response.body ?? []) read.text += decoder.decode(chunk as Uint8Array);
        })
        .catch(() => undefined)
        .finally(() => (read.over = true));
      return read;
    };
    const read = reading({ accept });
    await eventually('it is asked', () => reply !== undefined);
    const leave = async () => {
      client.abort();
      await eventually('the client has left', () => res!.closed);
    };
    const resume = (last: string) => reading({ accept, 'last-event-id': last });
    return { reply: reply!, res: res!, read, replays: streamBuffers, clock, leave, resume };
  }

  test('is kept alive by comments, and by nothing before it is late', async () => {
    const { reply, read, clock } = await ask({ sessionKey: undefined, sendsPrimingEvent: false });
    await clock.advance(11_000);
    expect([reply.isStarted, read.type]).toEqual([false, undefined]);
    await clock.advance(30_000);
    await eventually('a comment comes', () => read.text.includes(': waiting\n\n'));
    expect(read.type).toBe('text/event-stream');
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text.endsWith(`event: message\ndata: ${done}\n\n`));
  });

  test('says after three seconds where it can be taken up again', async () => {
    const { reply, read, replays, clock } = await ask({ sessionKey, requestId: 1, sendsPrimingEvent: true });
    await clock.advance(2_000);
    expect([reply.isStarted, replays.size]).toEqual([false, 0]);
    await clock.advance(2_000);
    await eventually('it says so', () => /^id: [\w.-]{50,400}\.0\ndata: \n\n$/.test(read.text));
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text.includes(done));
    expect(replays.size).toBe(1);
    await clock.advance(61_000);
    expect(replays.size).toBe(0);
  });

  test('keeps nothing of a call that was cancelled, for no reader', async () => {
    const { reply, read, replays, clock, resume } = await ask({
      sessionKey,
      requestId: 1,
      sendsPrimingEvent: true,
    });
    await clock.advance(4_000);
    await eventually('it says where', () => read.text.includes('id: '));
    const again = resume(/id: (\S+)/.exec(read.text)![1]!);
    await eventually('it is read by another request', () => read.over && again.type !== undefined);
    reply.notify('notifications/message', { data: 'one' });
    await eventually('which hears more', () => again.text.includes('one'));
    expect(replays.size).toBe(1);
    reply.abandon();
    await eventually('which ends', () => again.over);
    reply.notify('notifications/message', { data: 'late' });
    expect([replays.size, reply.sendRequest('q', 'elicitation/create', {})]).toEqual([0, false]);
  });

  test('begins nothing for what comes after a call was cancelled', async () => {
    const { reply, read, replays } = await ask({ sessionKey, requestId: 1, sendsPrimingEvent: true });
    reply.abandon();
    reply.notify('notifications/message', { data: 'late' });
    await eventually('it ends', () => read.over);
    expect([replays.size, read.text]).toEqual([0, '']);
  });

  test('keeps nothing when somebody else answers who has left', async () => {
    const { reply, replays, leave } = await ask({ sessionKey, requestId: 1, sendsPrimingEvent: true });
    await leave();
    reply.notify('notifications/message', { data: 'one' });
    expect([reply.isStarted, replays.size]).toEqual([false, 1]);
    reply.close();
    expect(replays.size).toBe(0);
  });

  test('piles up no notices for who does not read them', async () => {
    const { reply, res, read } = await ask({ sessionKey, requestId: 1, sendsPrimingEvent: true });
    const data = 'x'.repeat(64 * 1024);
    for (let n = 0; n < 100; n += 1) reply.notify('notifications/message', { data });
    expect(res.writableLength).toBeLessThan(1024 * 1024);
    expect(reply.sendRequest('q', 'elicitation/create', {})).toBe(true);
    reply.finish(done, 200);
    await eventually('it ends', () => read.over);
    expect([read.text.includes('elicitation/create'), read.text.includes(done)]).toEqual([true, true]);
  });

  test('keeps of what still runs no more than there is room for', async () => {
    const { reply, read, clock, resume } = await ask(
      { sessionKey, requestId: 1, sendsPrimingEvent: true },
      undefined,
      {
        maxBytes: 2_000,
      },
    );
    await clock.advance(4_000);
    await eventually('it says where', () => read.text.includes('id: '));
    for (const n of ['one', 'two', 'three', 'four', 'five'])
      reply.notify('notifications/message', { data: `${n}${'.'.repeat(500)}` });
    const again = resume(/id: (\S+)/.exec(read.text)![1]!);
    await eventually('the newest come again', () => again.text.includes('five'));
    expect([again.text.includes('four.'), again.text.includes('one.')]).toEqual([true, false]);
    reply.finish(done, 200);
    await eventually('and the answer', () => again.text.includes(done));
  });

  test('never begins for a client that takes no events', async () => {
    const { reply, read, clock } = await ask(
      { sessionKey, requestId: 1, sendsPrimingEvent: true },
      'application/json',
    );
    await clock.advance(60_000);
    expect(reply.sendRequest('q', 'elicitation/create', {})).toBe(false);
    reply.notify('notifications/message', {});
    reply.finish(done, 200);
    await eventually('the answer comes', () => read.text === done);
  });
});
