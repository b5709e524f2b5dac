import type { Clock, Send, SendResponse } from '@behalf/kernel';
import { withAuthorization, assertTokenPresent, sendWithToken } from '../bearerHeaders.ts';
import type { ServerRequests } from '../serverRequests.ts';
import type { Bearer, DpopToken } from '../target.ts';
import type {
  UpstreamResponse,
  Era,
  HeaderValues,
  ServerNotification,
  UpstreamRequestOptions,
} from '../upstream.ts';
import { UpstreamError, type ReadNetworkError } from '../upstreamError.ts';
import { readResponseStream } from './responseStream.ts';
import { isBodyRequired, classifyStatus } from './classifyStatus.ts';
import { classifyNetworkError } from './classifyNetworkError.ts';
import type { RequestDeadline } from './withDeadline.ts';
import { readResponse, tryReadResponse, parseRpcMessages, type JsonRpcMessage } from './readResponse.ts';
import type { ServerRequestResponder } from './serverMessages.ts';

export interface RpcParts {
  readonly send: Send;
  readonly clock: Clock;
  readonly readError: ReadNetworkError;
  readonly responder: ServerRequestResponder;
  readonly onNotification: (notification: ServerNotification) => void;
}

/** One request, ready to be sent. */
export interface UpstreamRpc {
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
