import type { Cancel, SendResponse } from '@behalf/kernel';
import type { UpstreamResponse, JsonObject } from '../upstream.ts';
import { UpstreamError, type ReadNetworkError } from '../upstreamError.ts';
import type { RpcParts, UpstreamRpc } from './sendRpc.ts';
import { classifyNetworkError } from './classifyNetworkError.ts';
import type { RequestDeadline } from './withDeadline.ts';
import {
  isObject,
  readResponse,
  tryReadResponse,
  parseRpcMessages,
  type JsonRpcMessage,
} from './readResponse.ts';
import { createStreamPosition, resumeStream, type StreamPosition } from './resumeStream.ts';
import { toChangeNotification } from './serverMessages.ts';
import { createSseParser } from './sseParser.ts';

/** A server that has answered may close its stream in this time, so that the connection can serve again. */
const DRAIN_MS = 1_000;

/** The answer from the event stream of a request, and from those that go on where it ended before the answer came. */
export async function readResponseStream(
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
