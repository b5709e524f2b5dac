import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callTool, type ToolLog, type ToolProgress } from './tools.ts';

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A gateway that answers as each test says, and remembers what it was asked. */
const gateway = {
  requests: [] as { url: string | undefined; accept: string | undefined; body: string }[],
  answer: (_req: IncomingMessage, _res: ServerResponse): void => undefined,
};
let server: Server;
const pageFetch = globalThis.fetch;

beforeAll(async () => {
  server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      gateway.requests.push({ url: req.url, accept: req.headers.accept, body });
      gateway.answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // A page knows its own origin.
  globalThis.fetch = (path, init) => pageFetch(new URL(path as string, `http://127.0.0.1:${port}`), init);
});

afterAll(() => {
  globalThis.fetch = pageFetch;
  server.closeAllConnections();
  server.close();
});

function call(controller = new AbortController(), onProgress = (): void => undefined) {
  const { signal } = controller;
  const received: (ToolProgress | ToolLog)[] = [];
  const hear = (said: ToolProgress | ToolLog) => {
    received.push(said);
    onProgress();
  };
  const calling = callTool({
    ...{ server: 'a b', tool: 'c/d', args: { n: 1 }, signal },
    ...{ onProgress: hear, onLog: hear },
  });
  return { received, calling };
}

function streams(...pieces: string[]): void {
  gateway.answer = (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of pieces) res.write(piece);
    res.end();
  };
}

describe('a call of a tool', () => {
  test('is made by name, and hears of progress and logs until the result', async () => {
    streams(
      event('progress', { progress: 1 }),
      ': alive\n\n',
      event('log', { data: 'x' }),
      event('result', { content: [] }),
    );
    const { calling, received } = call();
    expect(await calling).toEqual({ content: [] });
    expect(received).toEqual([{ progress: 1 }, { data: 'x' }]);
    expect(gateway.requests.at(-1)).toEqual({
      ...{ url: '/api/mcp/servers/a%20b/tools/c%2Fd/call', accept: 'text/event-stream' },
      body: '{"arguments":{"n":1}}',
    });
  });

  test('fails with the problem that the gateway names, before or within the stream', async () => {
    const problem = { code: 'MCP_TIMEOUT', status: 504, title: 'Too late', detail: 'It took too long' };
    streams(event('progress', { progress: 1 }), event('error', problem));
    await expect(call().calling).rejects.toMatchObject(problem);
    gateway.answer = (_req, res) => {
      const approval = { id: 'a1', expiresAt: 5 };
      const body = {
        code: 'MCP_APPROVAL_REQUIRED',
        status: 409,
        title: 'Asks first',
        detail: '',
        approval,
      };
      res.writeHead(409, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(body));
    };
    await expect(call().calling).rejects.toMatchObject({
      ...{ code: 'MCP_APPROVAL_REQUIRED', problem: { approval: { id: 'a1' } } },
    });
  });

  test('whose stream ends or breaks without an answer may have run', async () => {
    const uncertain = { code: 'MCP_OUTCOME_UNCERTAIN', title: 'The call may or may not have run' };
    streams(event('progress', { progress: 1 }));
    await expect(call().calling).rejects.toMatchObject(uncertain);
    streams('event: result\ndata: {"content"\n\n');
    await expect(call().calling).rejects.toMatchObject(uncertain);
    gateway.answer = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write(event('progress', { progress: 1 }), () => res.destroy());
    };
    await expect(call().calling).rejects.toMatchObject(uncertain);
    gateway.answer = (_req, res) => void res.destroy();
    await expect(call().calling).rejects.toMatchObject({ code: 'OFFLINE' });
  });

  test('ends its connection when it is cancelled', async () => {
    const closed = new Promise<void>((resolve) => {
      gateway.answer = (_req, res) => {
        res.on('close', resolve);
        res.writeHead(200, { 'Content-Type': 'text/event-stream' });
        res.write(event('progress', { progress: 1 }));
      };
    });
    const controller = new AbortController();
    const { calling } = call(controller, () => controller.abort());
    await expect(calling).rejects.toMatchObject({ name: 'AbortError' });
    await closed;
  });
});
