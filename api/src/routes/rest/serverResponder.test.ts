import { type IncomingMessage, type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError, type Inbound, type ServerOutcome } from '@behalf/gateway';
import { abortReason, systemRandom } from '@behalf/kernel';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createProblemMap } from '../../http/errors.ts';
import { createInFlightLimiter } from '../../http/limits.ts';
import { createDisconnectSignal } from '../../http/request.ts';
import type { FastExchange } from '../../http/route.ts';
import type { ObservedCall } from '../ops/callHistory.ts';
import { createServerResponder, rawText } from './serverResponder.ts';

const caller = aPrincipal();
const done: ServerOutcome = { kind: 'result', result: { content: [], isError: false }, json: undefined };

describe('the text of a tool’s answer', () => {
  const blank = fc.constantFrom('', ' ', '\n', '\r\n\t ');
  const other = fc.constantFrom<unknown>(undefined, null, 'true', 1, [], {});
  const flags = fc.oneof(fc.boolean(), other);

  test('isError is there exactly once, and all else is as it came', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()).filter((members) => !Object.hasOwn(members, 'isError')),
        flags,
        blank,
        blank,
        fc.boolean(),
        (members, isError, before, after, hasText) => {
          const result = { ...members, ...(isError !== undefined && { isError }) };
          const written = JSON.stringify(result, null, before.length);
          // Space inside the last brace, and after it.
          const json = `${written.slice(0, -1)}${before}}${after}`;
          const text = rawText({ kind: 'result', result, json: hasText ? json : undefined });
          const expected = { ...result, isError: isError === true };
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)));
          if (typeof isError === 'boolean' && hasText) expect(text).toBe(json);
          // A parser that takes the first of two members reads the same.
          const times = (part: string) => part.split('"isError":').length - 1;
          expect(times(text)).toBe(times(JSON.stringify(members)) + 1);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('the server’s own text is not written anew', () => {
    const json = '{"content":[{"type":"text","text":"\\u0041"}],"n":1.0,"big":12345678901234567890}  ';
    const result = JSON.parse(json) as ServerOutcome['result'];
    expect(rawText({ kind: 'result', result, json })).toBe(`${json.trimEnd().slice(0, -1)},"isError":false}`);
    expect(rawText({ kind: 'result', result: {}, json: '{ }' })).toBe('{ "isError":false}');
  });
});

describe('answering', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** One route over `work`, as the hot door would run it. */
  async function begin(work: (inbound: Inbound) => Promise<ServerOutcome>) {
    const fake = createFakeClock();
    let beats = 0;
    const clock = {
      ...fake,
      timer(ms: number, fn: () => void) {
        beats += 1;
        return fake.timer(ms, fn);
      },
    };
    const logged: { event: string; fields: object }[] = [];
    const log = (event: string, fields: object = {}) => void logged.push({ event, fields });
    const logger = { error: log, warn: log, info: log, debug: log };
    const observed: ObservedCall[] = [];
    const problemOf = createProblemMap({ random: systemRandom, logger });
    const answering = createServerResponder({
      metrics: { observe: (call) => void observed.push(call) },
      clock,
      logger,
      headers: { 'Cache-Control': 'no-store' },
      problemOf,
      inFlight: createInFlightLimiter(),
      requestIds: () => 'r-1',
      labelOf: () => 'label',
    });
    const signals: AbortSignal[] = [];
    const server = createServer((req, res) => {
      const signal = createDisconnectSignal(res);
      signals.push(signal);
      const exchange = {
        ...{ req, res, caller, params: {}, query: '', body: undefined, signal },
        json: (status: number, text: string) => void res.writeHead(status).end(text),
      } satisfies FastExchange;
      answering(exchange, { server: 's', operation: 'tool t', request: undefined, work }).catch(
        (error: unknown) => {
          if (res.headersSent) res.destroy();
          else res.writeHead(problemOf(error).problem.status).end();
        },
      );
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    /** What arrives, as it arrives. */
    const ask = async (accept = 'text/event-stream') => {
      const asking = request({ port, path: '/', method: 'POST', headers: { accept } });
      const answered = new Promise<IncomingMessage>((resolve, reject) =>
        asking.once('response', resolve).once('error', reject),
      );
      // Who leaves does not care what becomes of the answer.
      answered.catch(() => undefined);
      asking.end();
      const streamResponse = {
        text: '',
        ended: false,
        response: answered,
        leave: () => void asking.destroy(),
      };
      answered.then(
        (response) => {
          response.setEncoding('utf8').on('data', (chunk: string) => (streamResponse.text += chunk));
          response.on('end', () => (streamResponse.ended = true)).on('error', () => undefined);
        },
        () => undefined,
      );
      return streamResponse;
    };
    return { clock, logged, observed, signals, ask, beats: () => beats };
  }

  test('before the first event an error is a status', async () => {
    const { ask, observed } = await begin(async () => Promise.reject(new GatewayError('MCP_TIMEOUT')));
    const { statusCode, headers } = await (await ask()).response;
    expect([statusCode, headers['content-type']]).toEqual([504, undefined]);
    expect(observed).toMatchObject([{ outcome: 'MCP_TIMEOUT' }]);
  });

  test('after it, an error is the last event', async () => {
    const { ask } = await begin(async ({ onProgress }) => {
      onProgress?.({ progress: 1 });
      throw new GatewayError('MCP_TIMEOUT');
    });
    const response = await ask();
    expect((await response.response).statusCode).toBe(200);
    await eventually('the end', () => response.ended);
    const [progress, error, rest] = response.text.split('\n\n');
    expect(progress).toBe('event: progress\ndata: {"progress":1}');
    expect(error).toMatch(/^event: error\ndata: \{.*"status":504.*"code":"MCP_TIMEOUT"/);
    expect(rest).toBe('');
  });

  test('an error of our own shows nothing of itself there either', async () => {
    const { ask } = await begin(async ({ onLog }) => {
      onLog?.({ level: 'info' });
      throw new Error('planted secret');
    });
    const response = await ask();
    await eventually('the end', () => response.ended);
    expect(response.text).toContain('event: log');
    expect(response.text).toContain('"code":"INTERNAL"');
    expect(response.text).not.toContain('planted');
  });

  test('a long silence is filled every 15 seconds, and ends with the answer', async () => {
    let finish: (answer: ServerOutcome) => void = () => undefined;
    const { ask, clock, signals, beats } = await begin(() => new Promise((resolve) => (finish = resolve)));
    const response = await ask();
    await eventually('the question', () => signals.length === 1);
    await clock.advance(14_999);
    expect(response.text).toBe('');
    await clock.advance(1);
    await eventually('a comment', () => response.text === ': waiting\n\n');
    await clock.advance(30_000);
    await eventually('two more', () => response.text === ': waiting\n\n'.repeat(3));
    finish({ kind: 'result', result: { content: [] }, json: '{\r\n"content":[]\n}' });
    await eventually('the end', () => response.ended);
    expect(response.text.split('\n\n').at(-2)).toBe('event: result\ndata: { "content":[] }');
    // No timer is left behind.
    const before = beats();
    await clock.advance(60_000);
    expect(beats()).toBe(before);
  });

  test('a failure after a long silence is an event, and nothing follows it', async () => {
    let fail: (error: Error) => void = () => undefined;
    const { ask, clock, signals } = await begin(() => new Promise((_resolve, reject) => (fail = reject)));
    const response = await ask();
    await eventually('the question', () => signals.length === 1);
    await clock.advance(15_000);
    fail(new GatewayError('MCP_UNREACHABLE'));
    await eventually('the end', () => response.ended);
    expect(response.text).toMatch(/^: waiting\n\nevent: error\ndata: .*MCP_UNREACHABLE.*\n\n$/);
  });

  test('who leaves aborts the question, and is neither answered nor complained about', async () => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const { ask, observed, signals, logged, clock, beats } = await begin(
        ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(abortReason(signal)));
          }),
      );
      const response = await ask(accept);
      await eventually('the question', () => signals.length === 1);
      expect(signals[0]?.aborted).toBe(false);
      response.leave();
      await eventually('the abort', () => observed.length === 1);
      expect(signals[0]?.aborted).toBe(true);
      expect([accept, observed[0]?.outcome, logged]).toEqual([accept, 'cancelled', []]);
      const before = beats();
      await clock.advance(60_000);
      expect([response.text, beats()]).toEqual(['', before]);
    }
  });

  test('an answer that came in time is no abort', async () => {
    const { ask, signals, observed } = await begin(async () => done);
    const response = await ask('application/json');
    await eventually('the end', () => response.ended);
    expect(signals[0]?.aborted).toBe(false);
    expect(observed).toMatchObject([{ server: 'label', door: 'rest', outcome: 'ok' }]);
  });

  test('how it ended is counted, and the words of a server are not logged', async () => {
    const cases: [() => Promise<ServerOutcome>, string][] = [
      [
        async () => ({ kind: 'result', result: { content: [], isError: true }, json: undefined }),
        'tool_error',
      ],
      [
        () => Promise.reject(new GatewayError('MCP_PROTOCOL_ERROR', { cause: new Error('planted words') })),
        'MCP_PROTOCOL_ERROR',
      ],
      [() => Promise.reject(new Error('planted defect')), 'INTERNAL'],
    ];
    for (const [work, outcome] of cases) {
      const { ask, observed, logged } = await begin(work);
      const response = await ask('application/json');
      await response.response;
      expect(observed).toMatchObject([{ outcome }]);
      const reported = logged.filter(({ event }) => event === 'A request to a server failed');
      expect(reported).toHaveLength(outcome === 'tool_error' ? 0 : 1);
      expect(JSON.stringify(reported)).not.toContain('planted');
    }
  });
});
