import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { largeCatalog } from '@behalf/testkit/catalog';

/**
 * The minimal MCP server of all measurements, in a separate process: JSON responses, no stream, no framework.
 * `/legacy...` has sessions (2025-11-25), `/modern...` is stateless (2026-07-28). The rest of the path is ignored,
 * so that one process serves a thousand servers, except: `/guarded/x` requires a bearer token that starts with x,
 * `/many` lists a thousand tools, and `/catalog/x` lists those of the server x of the large catalog. `GET /counts`
 * returns the received requests.
 */
const counts = { requests: 0, initialized: 0, calls: 0, hanging: 0, wrong: 0 };
const sessions = new Set<string>();

const textSchema = { type: 'string' };
const tools = [
  { name: 'echo', inputSchema: { type: 'object', properties: { text: textSchema }, required: ['text'] } },
  { name: 'big', inputSchema: { type: 'object', properties: { text: textSchema } } },
  { name: 'hang', inputSchema: { type: 'object', properties: { text: textSchema } } },
  { name: 'lines', inputSchema: { type: 'object', properties: {} } },
].map((tool) => ({ ...tool, description: `Answers a call of ${tool.name}.` }));
const manyTools = Array.from({ length: 1_000 }, (_, i) => ({
  name: `tool_${i}`,
  description: `Number ${i} of a thousand tools, with a sentence about what it does.`,
  inputSchema: { type: 'object', properties: { text: textSchema }, required: ['text'] },
}));
const toolsByServer = new Map<string | undefined, readonly object[]>(
  largeCatalog().map(({ name, tools: serverTools }) => [name, serverTools]),
);
const bigText = 'x'.repeat(1_000_000);
const longLines = Array.from(
  { length: 2_000 },
  (_, i) => `${i}\tline of a long result, as a log or a file has them`,
);
const longTexts = new Map<string | undefined, string>([
  ['big', bigText],
  ['lines', longLines.join('\n')],
]);
const serverInfo = { name: 'bench', version: '1.0.0' };

interface Message {
  id?: string | number;
  method: string;
  params?: { name?: string; arguments?: { text?: string }; protocolVersion?: string };
}

function createResult(
  { method, params }: Message,
  isModern: boolean,
  tools: readonly object[],
): object | undefined {
  const cacheHints = isModern ? { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' } : {};
  switch (method) {
    case 'initialize':
      // Returns the requested version, because some peers support only older ones.
      return { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
    case 'server/discover':
      return {
        ...cacheHints,
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      };
    case 'tools/list':
      return { ...cacheHints, tools: tools };
    case 'tools/call': {
      counts.calls += 1;
      const replyText = longTexts.get(params?.name) ?? params?.arguments?.text ?? '';
      const content = [{ type: 'text', text: replyText }];
      return isModern ? { resultType: 'complete', content } : { content, isError: false };
    }
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

function findTools(url: string): readonly object[] {
  return url.endsWith('/many') ? manyTools : (toolsByServer.get(url.split('/catalog/')[1]) ?? tools);
}

function handleRequest(request: IncomingMessage, response: ServerResponse, body: string): void {
  counts.requests += 1;
  const isModern = request.url?.startsWith('/modern') === true;
  const message = JSON.parse(body) as Message;
  const requiredToken = request.url?.split('/guarded/')[1];
  if (
    requiredToken !== undefined &&
    request.headers.authorization?.startsWith(`Bearer ${requiredToken}`) !== true
  ) {
    response.writeHead(401).end();
    return;
  }
  const sessionId = request.headers['mcp-session-id'];
  if (!isModern && message.method !== 'initialize' && message.method !== 'server/discover') {
    if (typeof sessionId !== 'string' || !sessions.has(sessionId)) {
      response.writeHead(404).end();
      return;
    }
  }
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  if (message.params?.name === 'hang') {
    // Stays open until the client times out.
    counts.hanging += 1;
    return;
  }
  // Each user has a key and an ID. A mismatch between them is counted.
  const key = request.headers['x-user-key'];
  if (
    key !== undefined &&
    message.method === 'tools/call' &&
    key !== `key-${message.params?.arguments?.text}`
  ) {
    counts.wrong += 1;
  }
  const isLegacyProbe = !isModern && message.method === 'server/discover';
  const result = isLegacyProbe ? undefined : createResult(message, isModern, findTools(request.url ?? ''));
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (message.method === 'initialize') {
    counts.initialized += 1;
    const id = randomUUID();
    sessions.add(id);
    headers['mcp-session-id'] = id;
  }
  const outcome = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  const json = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome });
  headers['content-length'] = String(Buffer.byteLength(json));
  response.writeHead(200, headers).end(json);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    if (request.url === '/counts') response.end(JSON.stringify(counts));
    else response.writeHead(405).end();
    return;
  }
  if (request.method === 'DELETE') {
    sessions.delete(String(request.headers['mcp-session-id']));
    response.writeHead(200).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    try {
      handleRequest(request, response, body);
    } catch {
      response.writeHead(400).end();
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
