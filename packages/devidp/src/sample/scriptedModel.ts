import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeListener, createListener, startListening } from '../listener.ts';

type Json = Readonly<Record<string, unknown>>;

/** The parts of a request message that scripts read. */
export interface ScriptMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

export interface ScriptTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description?: string; readonly parameters: Json };
}

/** A recorded completion request, in order of arrival. */
export interface RecordedModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly messages: readonly ScriptMessage[];
  readonly tools: readonly ScriptTool[];
  readonly body: Json;
  /** Whether the client closed the connection before the response ended. */
  readonly aborted: boolean;
}

/**
 * One step of a model. A string is a part of the answer.
 * - `calls`: tool calls in one message; string `args` are sent unchanged.
 * - `until`: waits.
 * - `status`: responds with this status; must be the first step.
 * - `raw`: writes bytes to the stream.
 * - `cut`: closes the connection.
 * - `finish`: sets the finish reason.
 */
export type ScriptStep =
  | string
  | { readonly calls: readonly { readonly name: string; readonly args?: unknown }[] }
  | { readonly until: Promise<unknown> }
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly raw: string }
  | { readonly cut: true }
  | { readonly finish: string };

export type ModelScript = (request: RecordedModelRequest) => Iterable<ScriptStep> | AsyncIterable<ScriptStep>;

export interface ScriptedModelOptions {
  readonly script: ModelScript;
  /** The result of `/models`. */
  readonly models?: readonly string[];
  /** 0 or absent selects a free port. */
  readonly port?: number;
}

/** A server with OpenAI's chat completions API that follows a script. For tests and demos. */
export interface ScriptedModel {
  /** The base URL for `endpoints.custom`. */
  readonly url: string;
  readonly requests: readonly RecordedModelRequest[];
  /** The number of requests to `/models`. */
  readonly listCount: number;
  setScript(script: ModelScript): void;
  close(): Promise<void>;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  let { script } = options;
  const { models = ['scripted'], port = 0 } = options;
  const requests: RecordedModelRequest[] = [];
  let listCount = 0;
  const server = createListener(undefined);

  async function handleCompletion(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = (await json(req)) as Json;
    const request: Writable<RecordedModelRequest> = {
      headers: req.headers,
      model: String(body['model']),
      messages: body['messages'] as ScriptMessage[],
      tools: (body['tools'] ?? []) as ScriptTool[],
      body,
      aborted: false,
    };
    res.on('close', () => (request.aborted = !res.writableFinished));
    requests.push(request);
    await streamSteps(res, request.model, script(request));
  }

  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    if (req.method === 'GET' && req.url === '/v1/models') {
      listCount += 1;
      const data = models.map((id) => ({ id, object: 'model' }));
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ object: 'list', data }));
    } else if (req.method === 'POST' && req.url === '/v1/chat/completions') {
      // The client may close the connection at any time.
      handleCompletion(req, res).catch(() => res.destroy());
    } else res.writeHead(404).end();
  });
  const { origin } = await startListening(server, port, '127.0.0.1');
  return {
    url: `${origin}/v1`,
    requests,
    get listCount() {
      return listCount;
    },
    setScript: (next) => void (script = next),
    close: () => closeListener(server),
  };
}

/** Writes the steps as a streamed chat completion. */
async function streamSteps(
  res: ServerResponse,
  model: string,
  steps: Iterable<ScriptStep> | AsyncIterable<ScriptStep>,
): Promise<void> {
  let finishReason = 'stop';
  const writeChunk = (delta: object, reason: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    writeEvent(
      res,
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model, choices })}\n\n`,
    );
  };
  for await (const step of steps) {
    if (res.destroyed) return;
    if (typeof step === 'string') writeChunk({ content: step });
    else if ('calls' in step) {
      for (const piece of toDeltas(step.calls)) writeChunk(piece);
      finishReason = 'tool_calls';
    } else if ('until' in step) {
      startStream(res);
      await step.until;
    } else if ('status' in step) {
      const { status, body = { error: { message: `scripted ${status}` } }, headers = {} } = step;
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      return;
    } else if ('raw' in step) writeEvent(res, step.raw);
    else if ('cut' in step) {
      res.destroy();
      return;
    } else finishReason = step.finish;
  }
  writeChunk({}, finishReason);
  writeEvent(res, 'data: [DONE]\n\n');
  res.end();
}

function startStream(res: ServerResponse): void {
  if (res.headersSent) return;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
}

function writeEvent(res: ServerResponse, text: string): void {
  startStream(res);
  res.write(text);
}

/** As models stream calls: the name first, then the arguments in parts. */
function toDeltas(calls: readonly { readonly name: string; readonly args?: unknown }[]): object[] {
  return calls.flatMap(({ name, args = {} }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const middle = Math.ceil(text.length / 2);
    const toDelta = (fields: object) => ({ tool_calls: [{ index, ...fields }] });
    return [
      toDelta({ id: `call_${index}`, type: 'function', function: { name, arguments: '' } }),
      toDelta({ function: { arguments: text.slice(0, middle) } }),
      toDelta({ function: { arguments: text.slice(middle) } }),
    ];
  });
}
