import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { completable, createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import * as v1 from '@modelcontextprotocol/sdk/server/mcp.js';
import { completable as v1Completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { freePort } from '@behalf/testkit';
import { z } from 'zod';

/** What a server keeps of its clients is gone afterwards, as after a restart. */
export interface RestartableServer extends RunningServer {
  dropSessions(): Promise<void>;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const { resolve } = createRequire(import.meta.url);

/** The reference server, in a process of its own. */
export async function startEverythingHttp(): Promise<RestartableServer> {
  const port = await freePort();
  let child = await spawnEverything(port);
  async function close(): Promise<void> {
    const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await exit;
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    close,
    async dropSessions() {
      await close();
      child = await spawnEverything(port);
    },
  };
}

async function spawnEverything(port: number): Promise<ChildProcess> {
  const entry = resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { PORT: String(port), GZIP_ALLOWED_DOMAINS: 'invalid' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((ready, reject) => {
    let text = '';
    child.once('exit', () => reject(new Error(`The server ended: ${text}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (/listening on port/.test(text)) ready();
    });
  });
  return child;
}

export async function listenOnLoopback(listener: RequestListener): Promise<RunningServer> {
  const http = createServer(listener);
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    async close() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
const results = {
  text: { content: [{ type: 'text' as const, text: 'grüße 👋' }] },
  image: { content: [{ type: 'image' as const, data: pixel, mimeType: 'image/png' }] },
  audio: { content: [{ type: 'audio' as const, data: 'UklGRg==', mimeType: 'audio/wav' }] },
  link: { content: [{ type: 'resource_link' as const, uri: 'note://one', name: 'one' }] },
  failed: { content: [{ type: 'text' as const, text: 'no' }], isError: true },
  embedded: { content: [{ type: 'resource' as const, resource: { uri: 'note://one', text: 'a note' } }] },
};
const contents = (uri: URL) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a note' }] });
const createGreeting = (name: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Hello ${name}` } }],
});
const completeName = (value: string) => ['ada', 'alan', 'grace'].filter((name) => name.startsWith(value));
const serverInfo = { name: 'parity', version: '1.0.0' };

/** A server on the second version of the SDK, in both eras; it keeps no sessions. */
export function startV2(): Promise<RunningServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer(serverInfo, { instructions: 'Compare.' });
    for (const [name, result] of Object.entries(results)) server.registerTool(name, {}, () => result);
    server.registerTool(
      'structured',
      {
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true },
      },
      ({ a, b }) => ({ content: [], structuredContent: { sum: a + b }, _meta: { 'com.example/m': 1 } }),
    );
    server.registerTool('throws', {}, () => {
      throw new Error('it failed');
    });
    server.registerResource('one', 'note://one', { mimeType: 'text/plain' }, contents);
    server.registerResource(
      'any',
      new ResourceTemplate('note://any/{id}', { list: undefined }),
      {},
      contents,
    );
    server.registerPrompt(
      'greet',
      { argsSchema: z.object({ name: completable(z.string(), completeName) }) },
      ({ name }) => createGreeting(name),
    );
    return server;
  });
  return listenOnLoopback(toNodeHandler(handler) as unknown as RequestListener);
}

/** A server on the first version of the SDK, with sessions. */
export async function startV1(responseFormat: 'json' | 'sse'): Promise<RestartableServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  function createMcp(): v1.McpServer {
    const server = new v1.McpServer(serverInfo, { instructions: 'Compare.' });
    for (const [name, result] of Object.entries(results)) server.registerTool(name, {}, () => result);
    server.registerTool(
      'structured',
      { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
      ({ a, b }) => ({ content: [], structuredContent: { sum: a + b }, _meta: { 'com.example/m': 1 } }),
    );
    server.registerTool('throws', {}, () => {
      throw new Error('it failed');
    });
    server.registerResource('one', 'note://one', { mimeType: 'text/plain' }, contents);
    server.registerResource(
      'any',
      new v1.ResourceTemplate('note://any/{id}', { list: undefined }),
      {},
      contents,
    );
    server.registerPrompt(
      'greet',
      { argsSchema: { name: v1Completable(z.string(), completeName) } },
      ({ name }) => createGreeting(name),
    );
    return server;
  }
  const listeningServer = await listenOnLoopback((request, response) => {
    const knownTransport = transports.get(String(request.headers['mcp-session-id']));
    if (knownTransport) {
      void knownTransport.handleRequest(request, response);
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: responseFormat === 'json',
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    void createMcp()
      .connect(transport as Parameters<v1.McpServer['connect']>[0])
      .then(() => transport.handleRequest(request, response));
  });
  return { ...listeningServer, dropSessions: async () => transports.clear() };
}
