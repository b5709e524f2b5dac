import type { Cancel, Clock } from '@behalf/kernel';
import { SSEClientTransport, SseError } from '@modelcontextprotocol/client';
import { TokenUnavailableError, acquireToken, fetchWithToken, toPlainHeaders } from '../bearer.ts';
import {
  type FailedRequest,
  classifyNetworkError,
  classifyStatus,
  isBodyRequired,
  isSessionLost,
  isUnambiguousLoss,
  toRequestError,
} from '../http/errors.ts';
import { isObject } from '../messages.ts';
import type { Network } from '../upstream.ts';
import type { Bearer, RemoteTarget, WireToken } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel, SendContext } from './openChannelUpstream.ts';

/** Nothing that is needed stands in the answer to a message; this long its connection may be kept for it. */
const DRAIN_MS = 1_000;

/**
 * HTTP+SSE of revision 2024-11-05: a stream of events, and a POST for every message of ours. The SDK's transport tells
 * its failures in words; what happened is noted here, at the fetch, where it is still known.
 */
export function createSseTransport(
  target: RemoteTarget,
  { clock, network }: { readonly clock: Clock; readonly network: Network },
): Channel {
  let isStarted = false;
  /** What became of the stream. */
  let streamFailure: UpstreamError | TokenUnavailableError | undefined;
  const recordFailure = (error: unknown) => (streamFailure ??= toFailure(error));
  const toFailure = (error: unknown) =>
    error instanceof TokenUnavailableError ? error : classifyNetworkError(error, network.readError);
  const fetchTo = network.fetchTo(target);
  /** On whose behalf a message is sent, by its text: of all that is known of it the SDK passes on no more. */
  const sendContexts = new Map<unknown, SendContext>();

  // Deprecated as the transport itself is; servers that speak nothing else are many.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const inner = new SSEClientTransport(new URL(target.url), {
    requestInit: { headers: { ...target.headers } },
    // The guarded fetch follows them itself, and takes the credential away when they leave the origin.
    redirectPolicy: 'follow',
    fetch: (url, init) =>
      init?.method === 'POST'
        ? post(url, init)
        : openStream(url, init).catch((error: unknown) => Promise.reject(recordFailure(error))),
  });

  async function openStream(url: string | URL, init?: RequestInit): Promise<Response> {
    const token = await tokenFor(init, target.bearer);
    const response = await fetchWithOptionalToken(url, init, token);
    if (response.status !== 200)
      throw await toStatusError(response, { url: target.url, id: undefined, hasSession: false, clock });
    return new Response(observeBody(response.body, recordFailure), { headers: response.headers });
  }

  async function post(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      const { bearer, shouldSend } = sendContexts.get(init.body) ?? {};
      const failure = await postMessage(url, init, bearer, shouldSend);
      if (failure) throw await resolveSessionLoss(failure, url, init);
      return new Response(null, { status: 202 });
    } catch (error) {
      throw toFailure(error);
    }
  }

  /** A token for each request. */
  async function tokenFor(
    init: RequestInit | undefined,
    bearer: Bearer | undefined,
  ): Promise<WireToken | undefined> {
    const signal = init?.signal ?? new AbortController().signal;
    return (
      bearer &&
      acquireToken(bearer, signal).catch((error: unknown) => Promise.reject(new TokenUnavailableError(error)))
    );
  }

  /** With it, where there is a bearer, and the SDK's own headers besides. */
  function fetchWithOptionalToken(
    url: string | URL,
    init: RequestInit | undefined,
    token: WireToken | undefined,
  ): Promise<Response> {
    const sent = { ...init, headers: toPlainHeaders(init?.headers) };
    return token === undefined ? fetchTo(url, sent) : fetchWithToken(fetchTo, url, sent, token);
  }

  /** Sends one message; gives how it was refused, if it was. */
  async function postMessage(
    url: string | URL,
    init: RequestInit,
    bearer = target.bearer,
    shouldSend: SendContext['shouldSend'] = () => true,
  ): Promise<UpstreamError | undefined> {
    const abortController = new AbortController();
    const abortExchange = () => abortController.abort();
    let cancelTimer: Cancel = () => undefined;
    // The signal of the channel, which many messages share.
    init.signal?.addEventListener('abort', abortExchange);
    try {
      init.signal?.throwIfAborted();
      const token = await tokenFor(init, bearer);
      if (!shouldSend()) throw new UpstreamError('ended');
      const response = await fetchWithOptionalToken(url, { ...init, signal: abortController.signal }, token);
      cancelTimer = clock.timer(DRAIN_MS, abortExchange);
      // The endpoint was named by the server itself: what it does not know any more is the session.
      if (!response.ok)
        return await toStatusError(response, {
          url: String(url),
          id: readMessageId(init.body),
          hasSession: true,
          clock,
        });
      await response.text().catch(() => undefined);
      return undefined;
    } finally {
      cancelTimer();
      init.signal?.removeEventListener('abort', abortExchange);
    }
  }

  /** 400 may be about the session or about the message; a ping that is taken tells. In doubt it lives. */
  async function resolveSessionLoss(
    failure: UpstreamError,
    url: string | URL,
    init: RequestInit,
  ): Promise<UpstreamError> {
    const { reason, detail } = failure;
    const isAmbiguous = isSessionLost(failure)
      ? !isUnambiguousLoss(failure)
      : reason === 'bad_request' && detail.status === 400;
    if (!isAmbiguous) return failure;
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 'session-probe', method: 'ping' });
    const pingInit = { ...init, body: ping };
    const pingFailure = await postMessage(url, pingInit, sendContexts.get(init.body)?.bearer).catch(
      () => undefined,
    );
    if (pingFailure?.reason === 'session_lost' || pingFailure?.detail.status === 400)
      return isSessionLost(failure) ? failure : new UpstreamError('session_lost', detail);
    return isSessionLost(failure) ? toRequestError(failure) : failure;
  }

  const channel: Channel = {
    async start() {
      try {
        await inner.start();
        isStarted = true;
      } catch (error) {
        // What is no event stream, or names an endpoint elsewhere, is no MCP server.
        throw streamFailure ?? new UpstreamError('invalid_response', { cause: error });
      }
    },
    async send(message) {
      try {
        await inner.send(message);
      } catch (error) {
        if (error instanceof TokenUnavailableError) throw error;
        if (!isSessionLost(error))
          throw error instanceof UpstreamError ? error : new UpstreamError('ended', { cause: error });
        // It was not taken, so it may go out again, on a conversation of its own; what was sent before it may have run.
        const notSent = new UpstreamError('ended', { cause: error });
        if ('method' in message && 'id' in message) channel.onrequesterror?.(message.id, notSent);
        closeWith(new UpstreamError('reset', { cause: error }));
        throw notSent;
      }
    },
    async sendWithBearer(message, context) {
      const text = JSON.stringify(message);
      sendContexts.set(text, context);
      try {
        await channel.send(message);
      } finally {
        if (sendContexts.get(text) === context) sendContexts.delete(text);
      }
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
  };

  function closeWith(error: Error): void {
    channel.onerror?.(error);
    // Not at once: the event source starts its timer for a new attempt only after it has told of the failure.
    queueMicrotask(() => void inner.close());
  }

  inner.onmessage = (message) => channel.onmessage?.(message);
  inner.onclose = () => channel.onclose?.();
  inner.onerror = (error) => {
    // A new stream would be a new session that nobody has initialised: the conversation is over.
    if (isStarted && error instanceof SseError) closeWith(streamFailure ?? new UpstreamError('reset'));
  };
  return channel;
}

async function toStatusError(
  response: Response,
  request: Omit<FailedRequest, 'era'>,
): Promise<UpstreamError> {
  const { status, headers } = response;
  const header = (name: string) => headers.get(name) ?? undefined;
  if (!isBodyRequired(status)) void response.body?.cancel().catch(() => undefined);
  const text = isBodyRequired(status) ? await response.text().catch(() => '') : '';
  return classifyStatus({ status, header, text }, { era: 'legacy', ...request });
}

function readMessageId(body: RequestInit['body']): number | undefined {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isObject(message) && typeof message['id'] === 'number' ? message['id'] : undefined;
}

/** The same bytes; how they ended is noted, because the event source keeps no error. */
function observeBody(
  body: ReadableStream<Uint8Array> | null,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> | null {
  if (!body) return null;
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onError(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
