import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

type Json = Readonly<Record<string, unknown>>;

/** One HTTP request that arrived, in order of arrival. */
export interface ScriptedRequest {
  /** POST, GET, DELETE. */
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The text of the body. */
  readonly text: string;
  /** The JSON-RPC message; undefined when there was none or it is no JSON. */
  readonly message: ScriptedMessage | undefined;
  /** True as soon as the client ended the exchange before it was answered. */
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
 * How `respond` answers in the server's place. `hang`: never. `reset`: the socket is destroyed without an answer. A
 * function writes to the response itself: half an event, an endless body.
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

/** What a handler can do while its request is open. The first use turns the answer into an event stream. */
export interface ScriptedCall {
  readonly request: ScriptedRequest;
  readonly params: Json;
  /** Aborts when the client closes the exchange (modern) or sends `notifications/cancelled` (legacy). */
  readonly signal: AbortSignal;
  notify(method: string, params: Json): void;
  /** `notifications/progress` with this request's own token, or with `token`. */
  progress(progress: number, total?: number, token?: unknown): void;
  log(level: string, data: unknown): void;
  /** A request to the client on this request's stream; resolves with the message that the client posts as its answer. */
  sendRequest(method: string, params: Json): Promise<ScriptedMessage>;
  /** Raw text on the stream: comments, half an event. */
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
  /** Gives the result of `tools/call`. Without it: one text with the arguments as JSON. */
  readonly handler?: (args: Json, call: ScriptedCall) => Json | Promise<Json>;
}

export interface ScriptedOptions {
  readonly era: 'legacy' | 'modern' | 'both';
  readonly tools?: readonly ScriptedTool[];
  /** Other methods, or replacements of built-in ones, by name. Throw `scriptedError` for a JSON-RPC error. */
  readonly methods?: Readonly<Record<string, (params: Json, call: ScriptedCall) => unknown>>;
  /** How answers are written when nothing else was streamed. Default `json`. */
  readonly answers?: 'json' | 'sse';
  /** Looks at each request first; undefined leaves it to the server. */
  readonly respond?: (
    request: ScriptedRequest,
  ) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;
  /** Tools on one page. Default: all. */
  readonly pageSize?: number;
  /** Legacy: false hands out no session id. Default true. */
  readonly sessions?: boolean;
  /** Legacy: offers the GET stream. Default false: 405. */
  readonly getStream?: boolean;
  readonly capabilities?: Json;
  readonly instructions?: string;
  readonly serverInfo?: Json;
  /** Legacy version that `initialize` answers with. Default 2025-11-25. */
  readonly protocolVersion?: string;
}

export interface ScriptedHttpServer {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ScriptedRequest[];
  /** Requests with this JSON-RPC method, in order. */
  received(method: string): readonly ScriptedRequest[];
  /** Ids of the sessions that live. */
  readonly sessions: ReadonlySet<string>;
  /** From now on every session is unknown: 404. */
  forgetSessions(): void;
  /** Open GET streams and `subscriptions/listen` streams. */
  readonly openStreams: number;
  /** Sends a notification on every open stream, or on those that were opened with such headers. */
  push(method: string, params?: Json, to?: (headers: IncomingHttpHeaders) => boolean): void;
  /** Sends a request on every open GET stream; resolves with the first answer that the client posts. */
  sendRequestOnStreams(method: string, params: Json): Promise<ScriptedMessage>;
  /** Raw text on every open stream. */
  writeOnStreams(text: string): void;
  /** Ends every open stream. */
  endStreams(): void;
  /** Replaces what may change while it runs. */
  change(
    options: Partial<
      Pick<ScriptedOptions, 'tools' | 'era' | 'respond' | 'answers' | 'getStream' | 'methods'>
    >,
  ): void;
  close(): Promise<void>;
}

/** What a handler throws to answer with a JSON-RPC error; `status` when it does not come with HTTP 200. */
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

/** Requests of the server to the client, waiting for their answers, whatever stream they went out on. */
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

/** One JSON-RPC request being answered: as JSON, or as an event stream once anything was streamed. */
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
