import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually, type FakeClock } from '@behalf/testkit';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

const FOR_EVER = { timeoutMs: 86_400_000, totalMs: 86_400_000 };
const done = { content: [{ type: 'text', text: 'done' }] };
const resumes = ({ requests }: { requests: readonly { verb: string }[] }) =>
  requests.filter(({ verb }) => verb === 'GET').length;

type Write = (text: string) => void;

interface Script {
  /** What stands in the stream of the call before it is closed. */
  readonly first: string;
  /** What a resumed one gets: a status, or what is written before it is closed too. */
  readonly next: (write: Write, id: unknown, nth: number) => number | undefined;
  readonly era?: 'legacy' | 'modern';
}

/** A server that closes the stream of each call before it answers. */
async function closingServer({ first, next, era = 'legacy' }: Script, clock: FakeClock = createFakeClock()) {
  let called: unknown;
  let nth = 0;
  const stream = (response: ServerResponse, write: (write: Write) => void) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write((text) => void response.write(text));
    response.end();
  };
  const rig = await createHttpRig(
    {
      era,
      tools: [{ name: 'slow' }],
      respond({ verb, message }) {
        if (message?.method === 'tools/call') {
          called = message.id;
          return (response) => stream(response, (write) => write(first));
        }
        if (verb !== 'GET') return undefined;
        nth += 1;
        let text = '';
        const status = next((more) => void (text += more), called, nth) ?? 200;
        if (status !== 200) return { status };
        return (response) => stream(response, (write) => write(text));
      },
    },
    { clock },
  );
  return { ...rig, clock };
}

function message(fields: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...fields })}\n\n`;
}

/** Time passes until it has ended, however it ends. */
async function passing<T>(clock: FakeClock, work: Promise<T>, stepMs = 1_000): Promise<T> {
  let over = false;
  const end = () => (over = true);
  work.then(end, end);
  while (!over) await clock.advance(stepMs);
  return work;
}

describe('the stream of a call that is closed before the answer', () => {
  test('goes on after its last event, when the server wants it to', async () => {
    const { server, open, clock } = await closingServer({
      first: 'id: e1\nretry: 500\ndata: \n\n',
      next(write, id, nth) {
        const progress = { progressToken: id, progress: nth };
        write(message({ method: 'notifications/progress', params: progress }, `e${nth + 1}`));
        if (nth === 2) write(message({ id, result: done }));
        return undefined;
      },
    });
    const upstream = await open({}, { headers: { 'x-team': 'blue' } });
    const receivedNotifications: unknown[] = [];
    const answer = callHttpTool(
      upstream,
      'slow',
      {},
      {
        headers: { authorization: 'Bearer a' },
        onProgress: ({ progress }) => void receivedNotifications.push(progress),
      },
    );
    const sentAt = clock.now();
    while (resumes(server) === 0) await clock.advance(100);
    expect(clock.now() - sentAt).toBeGreaterThanOrEqual(500);
    expect((await passing(clock, answer, 100)).result).toMatchObject(done);
    expect(receivedNotifications).toEqual([1, 2]);
    const gets = server.requests.filter(({ verb }) => verb === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual(['e1', 'e2']);
    for (const { headers } of gets) {
      expect(headers).toMatchObject({
        accept: 'text/event-stream',
        authorization: 'Bearer a',
        'mcp-session-id': [...server.sessions][0],
        'x-team': 'blue',
      });
      expect(headers['content-type']).toBeUndefined();
    }
    expect(server.received('tools/call')).toHaveLength(1);
  });

  test('also when the connection breaks, and after a moment’s refusal', async () => {
    const clock = createFakeClock();
    let nth = 0;
    let called: unknown;
    const { server, open } = await createHttpRig(
      {
        era: 'legacy',
        respond({ verb, message: sent }) {
          if (sent?.method === 'tools/call') {
            called = sent.id;
            return (response) => {
              response.writeHead(200, { 'content-type': 'text/event-stream' });
              response.write('id: e1\ndata: \n\n', () => response.socket?.resetAndDestroy());
            };
          }
          if (verb !== 'GET') return undefined;
          nth += 1;
          if (nth === 1) return { status: 409 };
          if (nth === 2) return 'reset';
          return (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write(message({ id: called, result: done }));
          };
        },
      },
      { clock },
    );
    const answer = callHttpTool(await open(), 'slow', {}, FOR_EVER);
    expect((await passing(clock, answer)).result).toMatchObject(done);
    expect(server.received('tools/call')).toHaveLength(1);
  });

  for (const [what, status, expectedResumes] of [
    ['a session that is not known', 404, 1],
    ['a token that does not count any more', 401, 1],
    ['no such stream', 405, 1],
    ['a fault that stays', 503, 3],
  ] as const) {
    test(`${what}: nothing is known of the call, which is not sent again`, async () => {
      const { server, open, clock } = await closingServer({
        first: 'id: e1\ndata: \n\n',
        next: () => status,
      });
      const failure = expectUpstreamError(callHttpTool(await open(), 'slow', {}, FOR_EVER));
      expect(await passing(clock, failure)).toMatchObject({ reason: 'stream_broken', outcome: 'unknown' });
      expect(server.received('tools/call')).toHaveLength(1);
      expect(server.received('initialize')).toHaveLength(1);
      expect(resumes(server)).toBe(expectedResumes);
    });
  }

  test('a token is asked for each time; without one nothing is known', async () => {
    const { server, open, clock } = await closingServer({
      first: 'id: e1\ndata: \n\n',
      next: () => undefined,
    });
    const tokens = ['t1', 't2'];
    const bearer = {
      token: () => {
        const token = tokens.shift();
        return token === undefined ? Promise.reject(new Error('Sign in again')) : token;
      },
      renew: () => Promise.resolve(false),
      hasRenewed: () => false,
      presentedTokens: () => [],
    };
    const upstream = await open();
    const failure = expectUpstreamError(callHttpTool(upstream, 'slow', {}, { ...FOR_EVER, bearer }));
    expect(await passing(clock, failure)).toMatchObject({ reason: 'stream_broken', outcome: 'unknown' });
    const sent = server.requests.flatMap(({ headers }) => headers.authorization ?? []);
    expect(sent).toEqual(['Bearer t1', 'Bearer t2']);
    expect(server.received('tools/call')).toHaveLength(1);
  });

  test('a server that closes for ever is left after three hundred times', async () => {
    const { server, open, clock } = await closingServer({
      first: 'id: e0\nretry: 0\ndata: \n\n',
      next(write, _id, nth) {
        write(`id: e${nth}\ndata: \n\n`);
        return undefined;
      },
    });
    const failure = expectUpstreamError(callHttpTool(await open(), 'slow', {}, FOR_EVER));
    expect(await passing(clock, failure, 100)).toMatchObject({ reason: 'stream_broken' });
    expect(resumes(server)).toBe(300);
  });

  test('it ends with the time of its caller, and when the caller leaves', async () => {
    const { server, open, clock } = await closingServer({
      first: 'id: e1\nretry: 7000\ndata: \n\n',
      next: () => undefined,
    });
    const upstream = await open();
    const late = expectUpstreamError(
      callHttpTool(upstream, 'slow', {}, { timeoutMs: 5_000, totalMs: 60_000 }),
    );
    expect(await passing(clock, late)).toMatchObject({ reason: 'timeout' });
    const abortController = new AbortController();
    const left = callHttpTool(upstream, 'slow', {}, { ...FOR_EVER, signal: abortController.signal });
    await eventually('it is sent', () => server.received('tools/call').length === 2);
    await clock.advance(2_000);
    abortController.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await clock.advance(60_000);
    expect(resumes(server)).toBe(0);
    await eventually('it is told', () => server.received('notifications/cancelled').length === 2);
  });

  for (const [what, first, era] of [
    ['without an id of an event', 'retry: 1\ndata: \n\n', 'legacy'],
    ['with an id that is no header', `id: ${'x'.repeat(2_000)}\ndata: \n\n`, 'legacy'],
    ['of a modern server', 'id: e1\ndata: \n\n', 'modern'],
  ] as const) {
    test(`${what} it is over`, async () => {
      const { server, open, clock } = await closingServer({ first, next: () => undefined, era });
      const failure = expectUpstreamError(callHttpTool(await open(), 'slow', {}, FOR_EVER));
      expect(await passing(clock, failure)).toMatchObject({ reason: 'stream_broken', outcome: 'unknown' });
      expect(resumes(server)).toBe(0);
    });
  }
});
