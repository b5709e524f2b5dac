import type { ServerResponse } from 'node:http';
import {
  ScriptedError,
  type ScriptedCall,
  type ScriptedMessage,
  type ScriptedRequest,
} from './scriptedTypes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Requests of the server to the client, waiting for their answers, whatever stream they went out on. */
export interface ClientRequests {
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
