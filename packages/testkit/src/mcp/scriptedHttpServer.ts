import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Exchange,
  type ScriptedHttpServer,
  type ScriptedMessage,
  type ScriptedOptions,
  type ScriptedReply,
  type ScriptedRequest,
  createClientRequests,
  createExchange,
  event,
  scriptedError,
} from './scriptedExchange.ts';
import { headerMismatch, findMethod, MODERN_VERSION, modernResult, VERSION_KEY } from './scriptedMethods.ts';

type Json = Readonly<Record<string, unknown>>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * An MCP server over HTTP on a free loopback port that behaves as a test specifies, including incorrectly. Written
 * without the SDK, which prevents incorrect behavior.
 */
export async function scriptedHttpServer(initial: ScriptedOptions): Promise<ScriptedHttpServer> {
  let options = initial;
  const requests: ScriptedRequest[] = [];
  const sessions = new Set<string>();
  const running = new Map<string, Exchange>();
  const streams = new Map<ServerResponse, OpenStream>();
  const clientRequests = createClientRequests();

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk);
    const request: Writable<ScriptedRequest> = {
      verb: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      text,
      message: parseMessage(text),
      aborted: false,
    };
    response.on('close', () => (request.aborted = !response.writableFinished));
    requests.push(request);
    const reply = await options.respond?.(request);
    if (reply !== undefined) sendReply(reply, response);
    else if (request.verb === 'POST') await post(request, response);
    else if (request.verb === 'GET') get(request, response);
    else remove(request, response);
  }

  async function post(request: ScriptedRequest, response: ServerResponse): Promise<void> {
    const { id, method = '', params = {} } = request.message ?? {};
    const declaredVersion = (params['_meta'] as Json | undefined)?.[VERSION_KEY];
    const isModern = declaredVersion !== undefined && options.era !== 'legacy';
    const errorReply = isModern ? checkModernRequest(request) : checkLegacyRequest(request);
    if (errorReply) {
      sendError(response, { ...errorReply, id });
      return;
    }
    if (id === undefined || method === '') {
      if (request.message && method === '') clientRequests.onResponse(request.message);
      if (method === 'notifications/cancelled') running.get(String(params['requestId']))?.cancel();
      response.writeHead(202).end();
      return;
    }
    if (isModern && method === 'subscriptions/listen') {
      listen({ id, params }, request, response);
      return;
    }
    const headers: Record<string, string> = {};
    if (method === 'initialize' && options.sessions !== false) {
      const session = randomUUID();
      sessions.add(session);
      headers['mcp-session-id'] = session;
    }
    const exchange = createExchange(request, response, {
      sse: options.answers === 'sse',
      headers,
      clientRequests,
    });
    running.set(String(id), exchange);
    await exchange.respond(
      () => {
        const handler = findMethod(options, method, isModern);
        if (!handler) throw scriptedError(-32601, 'Method not found', undefined, isModern ? 404 : 200);
        return handler(params, exchange.call);
      },
      (result) => (isModern ? modernResult(method, result) : result),
    );
    running.delete(String(id));
  }

  function checkModernRequest({ message, headers }: ScriptedRequest): ErrorReply | undefined {
    const { method = '', params = {} } = message ?? {};
    const requested = (params['_meta'] as Json)[VERSION_KEY];
    if (requested !== MODERN_VERSION) return unsupportedVersion(requested);
    const mismatch = headerMismatch(options, method, params, headers);
    return mismatch === undefined
      ? undefined
      : { status: 400, code: -32020, text: `Header mismatch: ${mismatch}` };
  }

  /** Requires a valid session for a legacy request, like the reference server. */
  function checkLegacyRequest(request: ScriptedRequest): ErrorReply | undefined {
    if (options.era === 'modern') return unsupportedVersion(undefined);
    if (request.verb === 'POST' && !request.message)
      return { status: 400, code: -32700, text: 'Parse error' };
    if (options.sessions === false || request.message?.method === 'initialize') return undefined;
    const session = request.headers['mcp-session-id'];
    if (session === undefined) {
      return { status: 400, code: -32000, text: 'Bad Request: Mcp-Session-Id header is required' };
    }
    return sessions.has(String(session))
      ? undefined
      : { status: 404, code: -32001, text: 'Session not found' };
  }

  function get(request: ScriptedRequest, response: ServerResponse): void {
    if (options.getStream !== true) {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    const errorReply = checkLegacyRequest(request);
    if (errorReply) sendError(response, errorReply);
    else open(response, { headers: request.headers });
  }

  function listen(
    { id, params = {} }: ScriptedMessage,
    { headers }: ScriptedRequest,
    response: ServerResponse,
  ): void {
    open(response, { subscription: id, headers });
    response.write(
      event({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: params['notifications'], _meta: { [SUBSCRIPTION]: id } },
      }),
    );
  }

  function open(response: ServerResponse, kind: OpenStream): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    streams.set(response, kind);
    response.on('close', () => streams.delete(response));
  }

  function remove(request: ScriptedRequest, response: ServerResponse): void {
    const errorReply = checkLegacyRequest(request);
    if (errorReply) {
      sendError(response, errorReply);
      return;
    }
    sessions.delete(String(request.headers['mcp-session-id']));
    response.writeHead(204).end();
  }

  const http = createServer((incoming, response) => {
    // The client may close the connection at any time.
    handleRequest(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const forEachStream = (write: (response: ServerResponse, kind: OpenStream) => void) =>
    streams.forEach((kind, response) => write(response, kind));

  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    requests,
    received: (method) => requests.filter(({ message }) => message?.method === method),
    sessions,
    forgetSessions: () => sessions.clear(),
    get openStreams() {
      return streams.size;
    },
    push: (method, params = {}, to = () => true) =>
      forEachStream((response, { subscription, headers }) => {
        if (!to(headers)) return;
        const tagged =
          subscription === undefined ? params : { ...params, _meta: { [SUBSCRIPTION]: subscription } };
        response.write(event({ jsonrpc: '2.0', method, params: tagged }));
      }),
    sendRequestOnStreams: (method, params) =>
      clientRequests.send(method, params, (text) => forEachStream((response) => response.write(text))),
    writeOnStreams: (text) => forEachStream((response) => response.write(text)),
    endStreams: () => forEachStream((response) => response.end()),
    change: (changes) => void (options = { ...options, ...changes }),
    async close() {
      if (!http.listening) return;
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

interface OpenStream {
  readonly subscription?: unknown;
  /** The headers of the request that opened the stream. */
  readonly headers: IncomingHttpHeaders;
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

function parseMessage(text: string): ScriptedMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

interface ErrorReply {
  readonly status: number;
  readonly code: number;
  readonly text: string;
  readonly data?: Json;
  readonly id?: unknown;
}

function unsupportedVersion(requested: unknown): ErrorReply {
  const data = { supported: [MODERN_VERSION], requested };
  return { status: 400, code: -32022, text: 'Unsupported protocol version', data };
}

function sendError(response: ServerResponse, { status, code, text, data, id = null }: ErrorReply): void {
  const error = { code, message: text, ...(data && { data }) };
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
}

function sendReply(reply: ScriptedReply, response: ServerResponse): void {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (typeof reply === 'function') {
    reply(response);
    return;
  }
  const { status, headers = {}, body } = reply;
  const isJson = typeof body === 'object';
  response.writeHead(status, { ...(isJson && { 'content-type': 'application/json' }), ...headers });
  response.end(isJson ? JSON.stringify(body) : body);
}
