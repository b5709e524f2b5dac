import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

type Json = Readonly<Record<string, unknown>>;

/** A received HTTP request, in order of arrival. */
export interface ScriptedRequest {
  /** POST, GET or DELETE. */
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The text of the body. */
  readonly text: string;
  /** The JSON-RPC message; undefined without a body or if it is not JSON. */
  readonly message: ScriptedMessage | undefined;
  /** Whether the client closed the connection before the response ended. */
  readonly aborted: boolean;
}

export interface ScriptedMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * A response from `respond`. `hang`: no response. `reset`: destroys the socket. A function writes to the response
 * itself, for example half an event or an endless body.
 */
export type ScriptedReply =
  | 'hang'
  | 'reset'
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON. */
      readonly body?: string | Json;
    }
  | ((response: ServerResponse) => void);

/** The operations of a handler while its request is open. The first use turns the response into an event stream. */
export interface ScriptedCall {
  readonly request: ScriptedRequest;
  readonly params: Json;
  /** Aborts when the client closes the connection (modern) or sends `notifications/cancelled` (legacy). */
  readonly signal: AbortSignal;
  notify(method: string, params: Json): void;
  /** Sends `notifications/progress` with the token of the request, or with `token`. */
  progress(progress: number, total?: number, token?: unknown): void;
  log(level: string, data: unknown): void;
  /** Sends a request to the client on the stream of this request. Resolves with the response that the client posts. */
  sendRequest(method: string, params: Json): Promise<ScriptedMessage>;
  /** Writes raw text to the stream, for example a comment or half an event. */
  write(text: string): void;
}

export interface ScriptedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
  readonly _meta?: Json;
  /** Returns the result of `tools/call`. Default: the arguments as JSON text. */
  readonly handler?: (args: Json, call: ScriptedCall) => Json | Promise<Json>;
}

export interface ScriptedOptions {
  readonly era: 'legacy' | 'modern' | 'both';
  readonly tools?: readonly ScriptedTool[];
  /** Additional methods, or replacements of built-in ones, by name. Throw `scriptedError` for a JSON-RPC error. */
  readonly methods?: Readonly<Record<string, (params: Json, call: ScriptedCall) => unknown>>;
  /** The format of responses that were not streamed. Default `json`. */
  readonly answers?: 'json' | 'sse';
  /** Called first for each request. Undefined leaves the request to the server. */
  readonly respond?: (
    request: ScriptedRequest,
  ) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;
  /** Tools per page. Default: all. */
  readonly pageSize?: number;
  /** Legacy: false issues no session ID. Default true. */
  readonly sessions?: boolean;
  /** Legacy: offers the GET stream. Default false, which responds 405. */
  readonly getStream?: boolean;
  readonly capabilities?: Json;
  readonly instructions?: string;
  readonly serverInfo?: Json;
  /** The legacy version that `initialize` returns. Default 2025-11-25. */
  readonly protocolVersion?: string;
}

export interface ScriptedHttpServer {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ScriptedRequest[];
  /** Requests with this JSON-RPC method, in order. */
  received(method: string): readonly ScriptedRequest[];
  /** IDs of the open sessions. */
  readonly sessions: ReadonlySet<string>;
  /** Drops all sessions. Requests for them receive 404. */
  forgetSessions(): void;
  /** The number of open GET and `subscriptions/listen` streams. */
  readonly openStreams: number;
  /** Sends a notification on all open streams, or on those that `to` selects by their headers. */
  push(method: string, params?: Json, to?: (headers: IncomingHttpHeaders) => boolean): void;
  /** Sends a request on all open GET streams. Resolves with the first response that the client posts. */
  sendRequestOnStreams(method: string, params: Json): Promise<ScriptedMessage>;
  /** Writes raw text to all open streams. */
  writeOnStreams(text: string): void;
  /** Ends all open streams. */
  endStreams(): void;
  /** Changes options while the server runs. */
  change(
    options: Partial<
      Pick<ScriptedOptions, 'tools' | 'era' | 'respond' | 'answers' | 'getStream' | 'methods'>
    >,
  ): void;
  close(): Promise<void>;
}

/** Thrown by a handler to respond with a JSON-RPC error; `status` if the HTTP status is not 200. */
class ScriptedError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly status: number;
  constructor(code: number, message: string, data?: unknown, status = 200) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export function scriptedError(code: number, message: string, data?: unknown, status = 200): ScriptedError {
  return new ScriptedError(code, message, data, status);
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Requests of the server to the client that wait for responses, on any stream. */
interface ClientRequests {
  send(method: string, params: JsonObject, write: (text: string) => void): Promise<ScriptedMessage>;
  onResponse(message: ScriptedMessage): void;
}

export function createClientRequests(): ClientRequests {
  const pending = new Map<unknown, (message: ScriptedMessage) => void>();
  let lastId = 0;
  return {
    send(method, params, write) {
      lastId += 1;
      const id = `server-${lastId}`;
      const response = new Promise<ScriptedMessage>((resolve) => pending.set(id, resolve));
      write(event({ jsonrpc: '2.0', id, method, params }));
      return response;
    },
    onResponse(message) {
      pending.get(message.id)?.(message);
      pending.delete(message.id);
    },
  };
}

export function event(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/** A JSON-RPC request in progress. The response is JSON, or an event stream after the first streamed message. */
export interface Exchange {
  readonly call: ScriptedCall;
  cancel(): void;
  respond(work: () => unknown, decorate: (result: JsonObject) => JsonObject): Promise<void>;
}

export function createExchange(
  request: ScriptedRequest,
  response: ServerResponse,
  options: { sse: boolean; headers: Record<string, string>; clientRequests: ClientRequests },
): Exchange {
  const message = request.message ?? {};
  const params = message.params ?? {};
  const cancelled = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) cancelled.abort();
  });

  function stream(text: string): void {
    if (response.writableEnded || response.destroyed) return;
    if (!response.headersSent) {
      response.writeHead(200, { ...options.headers, 'content-type': 'text/event-stream' });
    }
    response.write(text);
  }

  function finish(status: number, body: JsonObject): void {
    if (response.writableEnded || response.destroyed) return;
    if (response.headersSent || (options.sse && status === 200)) {
      stream(event(body));
      response.end();
      return;
    }
    response.writeHead(status, { ...options.headers, 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  const notify = (method: string, fields: JsonObject) =>
    stream(event({ jsonrpc: '2.0', method, params: fields }));
  const call: ScriptedCall = {
    request,
    params,
    signal: cancelled.signal,
    notify,
    progress(progress, total, token) {
      const requestToken = (params['_meta'] as JsonObject | undefined)?.['progressToken'];
      const progressToken = token ?? requestToken;
      notify('notifications/progress', {
        progressToken,
        progress,
        ...(total !== undefined && { total }),
      });
    },
    log: (level, data) => notify('notifications/message', { level, data }),
    sendRequest: (method, fields) => options.clientRequests.send(method, fields, stream),
    write: stream,
  };

  return {
    call,
    cancel: () => cancelled.abort(),
    async respond(work, decorate) {
      const { id } = message;
      try {
        const result = (await work()) as JsonObject;
        finish(200, { jsonrpc: '2.0', id, result: decorate(result) });
      } catch (error) {
        const { code, data, status } = error instanceof ScriptedError ? error : toScriptError(error);
        const text = (error as Error).message;
        finish(status, {
          jsonrpc: '2.0',
          id,
          error: { code, message: text, ...(data !== undefined && { data }) },
        });
      }
    },
  };
}

function toScriptError(error: unknown): { code: number; data: unknown; status: number } {
  return { code: -32603, data: error instanceof Error ? error.stack : undefined, status: 200 };
}
