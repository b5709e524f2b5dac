import { type Cancel, type Clock, type Send, type SendResponse, sleep } from '@behalf/kernel';
import { assertTokenPresent, sendWithCredential, sendWithToken, withAuthorization } from '../bearer.ts';
import type { ServerRequests } from '../dialogue.ts';
import {
  type JsonRpcMessage,
  objectOrEmpty,
  parseRpcMessages,
  readResponse,
  tryReadResponse,
} from '../messages.ts';
import { type ServerRequestResponder, toChangeNotification } from '../notifications.ts';
import type { RequestDeadline } from '../requestDeadline.ts';
import type { Bearer, DpopToken } from '../target.ts';
import type {
  Era,
  HeaderValues,
  ServerNotification,
  UpstreamRequestOptions,
  UpstreamResponse,
} from '../upstream.ts';
import { type ReadNetworkError, UpstreamError } from '../upstreamError.ts';
import { classifyNetworkError, classifyStatus, isBodyRequired, isTemporaryStatus } from './errors.ts';
import { createSseParser } from './sseParser.ts';

export interface RpcParts {
  readonly send: Send;
  readonly clock: Clock;
  readonly readError: ReadNetworkError;
  readonly responder: ServerRequestResponder;
  readonly onNotification: (notification: ServerNotification) => void;
}

interface UpstreamRpc {
  readonly url: string;
  readonly era: Era;
  readonly id: number;
  /** Without the token of a bearer, which is added when the request is sent. */
  readonly headers: HeaderValues;
  readonly bearer: Bearer | undefined;
  readonly body: string;
  /** The request carries a session id. */
  readonly hasSession: boolean;
  readonly onProgress?: UpstreamRequestOptions['onProgress'] | undefined;
  readonly onLog?: UpstreamRequestOptions['onLog'] | undefined;
  /** Forwards requests of the server to the caller of this request. */
  readonly serverRequests?: ServerRequests | undefined;
}

/**
 * Sends one request and reads its response, as JSON or from an SSE stream. Throws `UpstreamError`, or the error of the
 * bearer; then nothing was sent.
 */
export async function sendRpc(
  parts: RpcParts,
  rpc: UpstreamRpc,
  deadline: RequestDeadline,
): Promise<UpstreamResponse> {
  let { headers } = rpc;
  let dpopToken: DpopToken | undefined;
  if (rpc.bearer) {
    const tokenResult = rpc.bearer.token();
    // A cached token is returned synchronously. The hot path then awaits nothing.
    const token = tokenResult instanceof Promise ? await deadline.waitForToken(tokenResult) : tokenResult;
    assertTokenPresent(token);
    if (typeof token === 'string') headers = withAuthorization(headers, token, 'POST', rpc.url);
    else dpopToken = token;
  }
  try {
    const request = {
      method: 'POST',
      url: rpc.url,
      headers,
      body: rpc.body,
      signal: deadline.signal,
    } as const;
    const reply = await (dpopToken ? sendWithToken(parts.send, request, dpopToken) : parts.send(request));
    const { status } = reply;
    if (status < 200 || status > 299) throw await readErrorResponse(parts, rpc, reply);
    if (reply.isEventStream) return await readResponseStream(parts, rpc, reply, deadline);
    const text = await reply.text();
    return (
      tryReadResponse(text, rpc.id, rpc.era) ??
      readResponse(findResponse(parseRpcMessages(text)), rpc.id, rpc.era)
    );
  } catch (error) {
    throw classifyNetworkError(error, parts.readError);
  }
}

function findResponse(messages: readonly JsonRpcMessage[]): JsonRpcMessage {
  const response = messages.find(({ method }) => method === undefined);
  if (!response) throw new UpstreamError('invalid_response');
  return response;
}

async function readErrorResponse(
  parts: RpcParts,
  rpc: UpstreamRpc,
  reply: SendResponse,
): Promise<UpstreamError> {
  const { status } = reply;
  const isBodyNeeded = isBodyRequired(status) && !reply.isEventStream;
  if (!isBodyNeeded) void reply.discard();
  const text = isBodyNeeded ? await reply.text() : '';
  return classifyStatus(
    { status, header: (name) => reply.header(name), text },
    { ...rpc, clock: parts.clock },
  );
}

/** Time for the server to close its stream after the response, so that the socket can be reused. */
const DRAIN_MS = 1_000;

/** Reads the response from an SSE stream. If the stream breaks before the response, resumes it. */
async function readResponseStream(
  parts: RpcParts,
  rpc: UpstreamRpc,
  firstReply: SendResponse,
  deadline: RequestDeadline,
): Promise<UpstreamResponse> {
  const position: StreamPosition = { lastEventId: '', retryMs: DEFAULT_RETRY_MS, resumes: 0 };
  for (let reply = firstReply; ;) {
    try {
      return await readStream(parts, rpc, reply, deadline, position);
    } catch (error) {
      const isBroken = error instanceof UpstreamError && error.reason === 'stream_broken';
      const resumed = isBroken ? await resumeStream(parts, rpc, deadline, position) : undefined;
      if (!resumed) throw error;
      reply = resumed;
    }
  }
}

/** Resolves when the response arrives. The rest of the stream is read and discarded. */
function readStream(
  parts: RpcParts,
  rpc: UpstreamRpc,
  reply: SendResponse,
  deadline: RequestDeadline,
  position: StreamPosition,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    let isDone = false;
    const parser = createSseParser(({ type, data }) => {
      if (isDone || type !== 'message') return;
      const response = readEvent(parts, rpc, data, deadline);
      if (!response) return;
      isDone = true;
      resolve(response);
    });
    async function pump(): Promise<void> {
      let cancelTimer: Cancel | undefined;
      try {
        for await (const chunk of reply.chunks()) {
          if (!isDone) parser.push(chunk);
          // `push` can set `isDone`.
          if (isDone) cancelTimer ??= parts.clock.timer(DRAIN_MS, () => deadline.abortExchange());
        }
        throw new UpstreamError('stream_broken');
      } catch (error) {
        cancelTimer?.();
        if (parser.lastEventId !== '') position.lastEventId = parser.lastEventId;
        position.retryMs = parser.retryMs ?? position.retryMs;
        // After the response this has no effect.
        reject(toStreamError(error, parts.readError));
      }
    }
    void pump();
  });
}

/** A connection that breaks during the response is a broken stream, whatever the cause. */
function toStreamError(error: unknown, readError: ReadNetworkError): UpstreamError {
  const failure = classifyNetworkError(error, readError);
  return failure.reason === 'reset' || failure.reason === 'connect_failed'
    ? new UpstreamError('stream_broken', { cause: error })
    : failure;
}

function readEvent(
  parts: RpcParts,
  rpc: UpstreamRpc,
  data: string,
  deadline: RequestDeadline,
): UpstreamResponse | undefined {
  // Servers can start a stream with an event that has an id and no data (SEP-1699).
  if (data === '') return undefined;
  const response = tryReadResponse(data, rpc.id, rpc.era);
  if (response) return response;
  for (const message of parseRpcMessages(data)) {
    if (message.method === undefined) return readResponse(message, rpc.id, rpc.era);
    handleServerMessage(parts, rpc, message, deadline);
  }
  return undefined;
}

/** Messages before the response belong to this request. Only its caller receives them. */
function handleServerMessage(
  parts: RpcParts,
  rpc: UpstreamRpc,
  message: JsonRpcMessage,
  deadline: RequestDeadline,
): void {
  if (message.id !== undefined) {
    // The modern era has no requests to the client.
    if (rpc.era === 'legacy') parts.responder.respond(message, rpc);
    return;
  }
  const params = objectOrEmpty(message.params);
  switch (message.method) {
    case 'notifications/progress':
      // Another token belongs to another request on the same connection.
      if (params['progressToken'] !== rpc.id) return;
      deadline.resetIdleTimeout();
      rpc.onProgress?.(params);
      return;
    case 'notifications/cancelled':
      rpc.serverRequests?.cancel(params['requestId']);
      return;
    case 'notifications/message':
      rpc.onLog?.(params);
      return;
    default: {
      const notification = toChangeNotification(message);
      if (notification) parts.onNotification(notification);
    }
  }
}

/** Covers a server that closes the stream every two seconds during a call of maximum duration. */
const MAX_RESUMES = 300;
const MAX_CONSECUTIVE_FAILURES = 3;
const DEFAULT_RETRY_MS = 1_000;
const MIN_RETRY_MS = 100;
/** The id is sent in a header. */
const MAX_EVENT_ID_LENGTH = 1_024;

/** Position of the response stream of one request. */
interface StreamPosition {
  lastEventId: string;
  retryMs: number;
  resumes: number;
}

/**
 * Resumes a stream that ended before the response: a legacy server that numbers its events keeps the rest (MCP
 * 2025-11-25, transports, resumability; SEP-1699). Undefined if it cannot be resumed. The request may have run, so no
 * failure here may cause it to be sent again: the result is always a broken stream.
 */
async function resumeStream(
  { send, clock }: RpcParts,
  { era, url, headers: postHeaders, bearer }: UpstreamRpc,
  { signal }: RequestDeadline,
  position: StreamPosition,
): Promise<SendResponse | undefined> {
  const { lastEventId, retryMs } = position;
  if (era !== 'legacy' || lastEventId === '' || lastEventId.length > MAX_EVENT_ID_LENGTH) return undefined;
  const { 'content-type': _type, ...baseHeaders } = postHeaders;
  const headers = { ...baseHeaders, accept: 'text/event-stream', 'last-event-id': lastEventId };
  for (let failures = 0; failures < MAX_CONSECUTIVE_FAILURES; failures += 1) {
    position.resumes += 1;
    if (position.resumes > MAX_RESUMES) return undefined;
    try {
      await sleep(clock, Math.max(retryMs, MIN_RETRY_MS), signal);
      const reply = await sendWithCredential(send, { method: 'GET', url, headers, signal }, bearer);
      if (reply.status === 200 && reply.isEventStream) return reply;
      void reply.discard();
      // 409: the server may not have noticed yet that the previous stream ended.
      if (reply.status !== 409 && !isTemporaryStatus(reply.status)) return undefined;
    } catch {
      if (signal.aborted) return undefined;
    }
  }
  return undefined;
}
