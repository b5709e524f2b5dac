import { type Cancel, type Clock, isObject } from '@behalf/kernel';
import { SSEClientTransport, SseError } from '@modelcontextprotocol/client';
import { TokenUnavailableError, acquireToken, fetchWithToken } from '../bearer.ts';
import {
  classifyNetworkError,
  classifyResponse,
  isBodyRequired,
  isSessionLost,
  isUnambiguousLoss,
  toRequestError,
} from '../http/errors.ts';
import type { Network } from '../upstream.ts';
import type { Bearer, RemoteTarget, WireToken } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel, SendContext } from './openChannelUpstream.ts';

/** Time to read the body of a POST response, which is not needed, so that the socket can be reused. */
const DRAIN_MS = 1_000;

/**
 * HTTP+SSE of revision 2024-11-05: an SSE stream, and a POST per message. The transport of the SDK reports failures as
 * text only, so they are recorded in its `fetch`.
 */
export function createSseTransport(
  target: RemoteTarget,
  { clock, network }: { readonly clock: Clock; readonly network: Network },
): Channel {
  let isStarted = false;
  /** Why the stream ended. */
  let streamFailure: UpstreamError | TokenUnavailableError | undefined;
  const recordFailure = (error: unknown) => (streamFailure ??= toFailure(error));
  const toFailure = (error: unknown) =>
    error instanceof TokenUnavailableError ? error : classifyNetworkError(error, network.readError);
  const fetchTo = network.fetchTo(target);
  /** The sender of a message, by its text. The SDK passes nothing else to `fetch`. */
  const sendContexts = new Map<unknown, SendContext>();

  // The transport is deprecated, but many servers support no other.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const inner = new SSEClientTransport(new URL(target.url), {
    requestInit: { headers: { ...target.headers } },
    // The guarded fetch follows redirects itself and removes the credential when they leave the origin.
    redirectPolicy: 'follow',
    fetch: (url, init) =>
      init?.method === 'POST'
        ? post(url, init)
        : openStream(url, init).catch((error: unknown) => Promise.reject(recordFailure(error))),
  });

  async function openStream(url: string | URL, init?: RequestInit): Promise<Response> {
    const token = await tokenFor(init, target.bearer);
    const response = await fetchWithToken(fetchTo, url, init, token);
    if (response.status !== 200) throw await toStatusError(response, target.url, undefined, false);
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

  /** Sends one message. Returns the failure if the server rejects it. */
  async function postMessage(
    url: string | URL,
    init: RequestInit,
    bearer = target.bearer,
    shouldSend: SendContext['shouldSend'] = () => true,
  ): Promise<UpstreamError | undefined> {
    const abortController = new AbortController();
    const abortExchange = () => abortController.abort();
    let cancelTimer: Cancel = () => undefined;
    init.signal?.addEventListener('abort', abortExchange);
    try {
      init.signal?.throwIfAborted();
      const token = await tokenFor(init, bearer);
      if (!shouldSend()) throw new UpstreamError('ended');
      const response = await fetchWithToken(fetchTo, url, { ...init, signal: abortController.signal }, token);
      cancelTimer = clock.timer(DRAIN_MS, abortExchange);
      // `hasSession`: the server assigned the endpoint to this session, so 404 means that the session is lost.
      if (!response.ok) return await toStatusError(response, String(url), readMessageId(init.body), true);
      await response.text().catch(() => undefined);
      return undefined;
    } finally {
      cancelTimer();
      init.signal?.removeEventListener('abort', abortExchange);
    }
  }

  /** A 400 can concern the session or the message. A ping distinguishes them; if unclear, the session exists. */
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

  async function toStatusError(
    response: Response,
    url: string,
    id: number | undefined,
    hasSession: boolean,
  ): Promise<UpstreamError> {
    const isBodyNeeded = isBodyRequired(response.status);
    if (!isBodyNeeded) void response.body?.cancel().catch(() => undefined);
    const text = isBodyNeeded ? await response.text().catch(() => '') : '';
    return classifyResponse(response, text, { url, era: 'legacy', id, hasSession, clock });
  }

  const channel: Channel = {
    async start() {
      try {
        await inner.start();
        isStarted = true;
      } catch (error) {
        // The response is not an SSE stream, or its endpoint has another origin.
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
        // The server did not accept this message, so it may be sent again on a new channel. Earlier messages may have run.
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
    // Deferred: the event source starts its reconnect timer only after it has reported the failure.
    queueMicrotask(() => void inner.close());
  }

  inner.onmessage = (message) => channel.onmessage?.(message);
  inner.onclose = () => channel.onclose?.();
  inner.onerror = (error) => {
    // The event source would reconnect, but a new stream is a new session without a handshake.
    if (isStarted && error instanceof SseError) closeWith(streamFailure ?? new UpstreamError('reset'));
  };
  return channel;
}

function readMessageId(body: RequestInit['body']): number | undefined {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isObject(message) && typeof message['id'] === 'number' ? message['id'] : undefined;
}

/** Passes the bytes through and reports their error, which the event source drops. */
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
