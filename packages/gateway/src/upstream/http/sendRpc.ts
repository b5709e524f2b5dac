import { type Cancel, type Clock, type Send, type SendResponse, sleep } from '@behalf/kernel';
import { assertTokenPresent, sendWithCredential, sendWithToken, withAuthorization } from '../bearer.ts';
import type { ServerRequests } from '../dialogue.ts';
import {
  type JsonRpcMessage,
  isObject,
  parseRpcMessages,
  readResponse,
  tryReadResponse,
} from '../messages.ts';
import { type ServerRequestResponder, toChangeNotification } from '../notifications.ts';
import type { Bearer, DpopToken } from '../target.ts';
import type {
  Era,
  HeaderValues,
  JsonObject,
  ServerNotification,
  UpstreamRequestOptions,
  UpstreamResponse,
} from '../upstream.ts';
import { type ReadNetworkError, UpstreamError } from '../upstreamError.ts';
import { classifyNetworkError, classifyStatus, isBodyRequired } from './errors.ts';
import type { RequestDeadline } from './requestDeadline.ts';
import { type SseParser, createSseParser } from './sseParser.ts';

export interface RpcParts {
  readonly send: Send;
  readonly clock: Clock;
  readonly readError: ReadNetworkError;
  readonly responder: ServerRequestResponder;
  readonly onNotification: (notification: ServerNotification) => void;
}

/** One request, ready to be sent. */
interface UpstreamRpc {
  readonly url: string;
  readonly era: Era;
  readonly id: number;
  /** Without the token of a bearer: that is asked for at the last moment and kept nowhere. */
  readonly headers: HeaderValues;
  readonly bearer: Bearer | undefined;
  readonly body: string;
  /** It carries a session that the server may have lost. */
  readonly hasSession: boolean;
  readonly onProgress: UpstreamRequestOptions['onProgress'];
  readonly onLog: UpstreamRequestOptions['onLog'];
  /** Who may be asked what the server asks on the stream of this request. */
  readonly serverRequests: ServerRequests | undefined;
}

/**
 * Sends one request and reads its answer, as JSON or from an event stream. Throws UpstreamError alone, or what the
 * bearer rejected with: then nothing was sent.
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
    // Mostly it is at hand, and nobody waits for a promise.
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

/** A server that has answered may close its stream in this time, so that the connection can serve again. */
const DRAIN_MS = 1_000;

/** The answer from the event stream of a request, and from those that go on where it ended before the answer came. */
async function readResponseStream(
  parts: RpcParts,
  rpc: UpstreamRpc,
  firstReply: SendResponse,
  deadline: RequestDeadline,
): Promise<UpstreamResponse> {
  const position = createStreamPosition();
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

/** Resolves with the answer as soon as it stands in the stream; the rest is read and thrown away. */
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
          // The parser sets it.
          if (isDone) cancelTimer ??= parts.clock.timer(DRAIN_MS, () => deadline.abortExchange());
        }
        throw new UpstreamError('stream_broken');
      } catch (error) {
        cancelTimer?.();
        position.update(parser);
        // After the answer this settles nothing any more.
        reject(toStreamError(error, parts.readError));
      }
    }
    void pump();
  });
}

/** A connection that breaks in the middle of an answer is a broken stream, whatever broke it. */
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
  // Some servers open a stream with an event that has an id and no data.
  if (data === '') return undefined;
  const response = tryReadResponse(data, rpc.id, rpc.era);
  if (response) return response;
  for (const message of parseRpcMessages(data)) {
    if (message.method === undefined) return readResponse(message, rpc.id, rpc.era);
    handleServerMessage(parts, rpc, message, deadline);
  }
  return undefined;
}

/** What a server sends before the answer belongs to this request, and reaches its caller alone. */
function handleServerMessage(
  parts: RpcParts,
  rpc: UpstreamRpc,
  message: JsonRpcMessage,
  deadline: RequestDeadline,
): void {
  if (message.id !== undefined) {
    // The modern era has no requests to a client.
    if (rpc.era === 'legacy') parts.responder.respond(message, rpc);
    return;
  }
  const params: JsonObject = isObject(message.params) ? message.params : {};
  if (message.method === 'notifications/progress') {
    // Another token is another caller's, on a connection that several share.
    if (params['progressToken'] !== rpc.id) return;
    deadline.resetIdleTimeout();
    rpc.onProgress?.(params);
    return;
  }
  if (message.method === 'notifications/cancelled') {
    rpc.serverRequests?.cancel(params['requestId']);
    return;
  }
  if (message.method === 'notifications/message') {
    rpc.onLog?.(params);
    return;
  }
  const notification = toChangeNotification(message);
  if (notification) parts.onNotification(notification);
}

/** A server that closes every two seconds is followed for as long as a call with people in it may last. */
const MAX_RESUMES = 300;
/** In a row. */
const MAX_CONSECUTIVE_FAILURES = 3;
const DEFAULT_RETRY_MS = 1_000;
const MIN_RETRY_MS = 100;
/** It is sent back in a header. */
const MAX_EVENT_ID_LENGTH = 1_024;

/** Where the stream of one request stands. */
interface StreamPosition {
  readonly lastEventId: string;
  readonly retryDelayMs: number;
  /** Once more; false when it has been often enough. */
  countResume(): boolean;
  update(parser: SseParser): void;
}

function createStreamPosition(): StreamPosition {
  let lastEventId = '';
  let retryMs = DEFAULT_RETRY_MS;
  let resumes = 0;
  return {
    get lastEventId() {
      return lastEventId;
    },
    get retryDelayMs() {
      return Math.max(retryMs, MIN_RETRY_MS);
    },
    countResume: () => (resumes += 1) <= MAX_RESUMES,
    update(parser) {
      if (parser.lastEventId !== '') lastEventId = parser.lastEventId;
      retryMs = parser.retryMs ?? retryMs;
    },
  };
}

/**
 * What follows on a stream that ended before the answer came: a server may close it while it works on, and a legacy one
 * that numbers its events keeps the rest (2025-11-25, transports: resumability; SEP-1699). Undefined: there is no more.
 * The request ran or may have run, so that nothing here is ever a reason to send it again, neither a lost session nor a
 * token that is not to be had: the stream is broken, and no more is known.
 */
async function resumeStream(
  { send, clock }: Pick<RpcParts, 'send' | 'clock'>,
  { era, url, headers: postHeaders, bearer }: Pick<UpstreamRpc, 'era' | 'url' | 'headers' | 'bearer'>,
  { signal }: Pick<RequestDeadline, 'signal'>,
  position: StreamPosition,
): Promise<SendResponse | undefined> {
  const { lastEventId, retryDelayMs } = position;
  if (era !== 'legacy' || lastEventId === '' || lastEventId.length > MAX_EVENT_ID_LENGTH) return undefined;
  const { 'content-type': _type, ...baseHeaders } = postHeaders;
  const headers = { ...baseHeaders, accept: 'text/event-stream', 'last-event-id': lastEventId };
  for (let failures = 0; failures < MAX_CONSECUTIVE_FAILURES && position.countResume(); failures += 1) {
    try {
      await sleep(clock, retryDelayMs, signal);
      const reply = await sendWithCredential(send, { method: 'GET', url, headers, signal }, bearer);
      if (reply.status === 200 && reply.isEventStream) return reply;
      void reply.discard();
      if (!isTransientStatus(reply.status)) return undefined;
    } catch {
      if (signal.aborted) return undefined;
    }
  }
  return undefined;
}

/** A server may not have noticed yet that the stream before ended. */
function isTransientStatus(status: number): boolean {
  return status === 409 || status === 429 || status >= 500;
}
