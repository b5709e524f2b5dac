import type { Cancel, Clock } from '@behalf/kernel';
import { SSEClientTransport, SseError } from '@modelcontextprotocol/client';
import { fetchWith, plainHeaders, tokenOf } from '../bearerHeaders.ts';
import { bodyDecides, classifyStatus, type Refused } from '../http/classifyStatus.ts';
import { networkFailure } from '../http/networkFailure.ts';
import { isObject } from '../http/readAnswer.ts';
import { aboutRequest, isLost, isPlain } from '../http/sessionLoss.ts';
import type { Network } from '../parts.ts';
import type { Bearer, RemoteTarget, Token } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel, Sending } from './channel.ts';
import { NoToken } from './noToken.ts';

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
  let started = false;
  /** What became of the stream. */
  let failure: UpstreamError | NoToken | undefined;
  const note = (error: unknown) => (failure ??= failureOf(error));
  const failureOf = (error: unknown) =>
    error instanceof NoToken ? error : networkFailure(error, network.readError);
  const fetchTo = network.fetchTo(target);
  /** On whose behalf a message is sent, by its text: of all that is known of it the SDK passes on no more. */
  const sendings = new Map<unknown, Sending>();

  // Deprecated as the transport itself is; servers that speak nothing else are many.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const inner = new SSEClientTransport(new URL(target.url), {
    requestInit: { headers: { ...target.headers } },
    // The guarded fetch follows them itself, and takes the credential away when they leave the origin.
    redirectPolicy: 'follow',
    fetch: (url, init) =>
      init?.method === 'POST'
        ? post(url, init)
        : openStream(url, init).catch((error: unknown) => Promise.reject(note(error))),
  });

  async function openStream(url: string | URL, init?: RequestInit): Promise<Response> {
    const token = await tokenFor(init, target.bearer);
    const response = await present(url, init, token);
    if (response.status !== 200)
      throw await refusal(response, { url: target.url, id: undefined, session: false, clock });
    return new Response(watched(response.body, note), { headers: response.headers });
  }

  async function post(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      const { bearer, goesOn } = sendings.get(init.body) ?? {};
      const refused = await deliver(url, init, bearer, goesOn);
      if (refused) throw await judge(refused, url, init);
      return new Response(null, { status: 202 });
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** A token for each request. */
  async function tokenFor(
    init: RequestInit | undefined,
    bearer: Bearer | undefined,
  ): Promise<Token | undefined> {
    const signal = init?.signal ?? new AbortController().signal;
    return bearer && tokenOf(bearer, signal).catch((error: unknown) => Promise.reject(new NoToken(error)));
  }

  /** With it, where there is a bearer, and the SDK's own headers besides. */
  function present(
    url: string | URL,
    init: RequestInit | undefined,
    token: Token | undefined,
  ): Promise<Response> {
    const sent = { ...init, headers: plainHeaders(init?.headers) };
    return token === undefined ? fetchTo(url, sent) : fetchWith(fetchTo, url, sent, token);
  }

  /** Sends one message; gives how it was refused, if it was. */
  async function deliver(
    url: string | URL,
    init: RequestInit,
    bearer = target.bearer,
    goesOn: Sending['goesOn'] = () => true,
  ): Promise<UpstreamError | undefined> {
    const exchange = new AbortController();
    const leave = () => exchange.abort();
    let stop: Cancel = () => undefined;
    // The signal of the channel, which many messages share.
    init.signal?.addEventListener('abort', leave);
    try {
      init.signal?.throwIfAborted();
      const token = await tokenFor(init, bearer);
      if (!goesOn()) throw new UpstreamError('ended');
      const response = await present(url, { ...init, signal: exchange.signal }, token);
      stop = clock.timer(DRAIN_MS, leave);
      // The endpoint was named by the server itself: what it does not know any more is the session.
      if (!response.ok)
        return await refusal(response, { url: String(url), id: idOf(init.body), session: true, clock });
      await response.text().catch(() => undefined);
      return undefined;
    } finally {
      stop();
      init.signal?.removeEventListener('abort', leave);
    }
  }

  /** 400 may be about the session or about the message; a ping that is taken tells. In doubt it lives. */
  async function judge(refused: UpstreamError, url: string | URL, init: RequestInit): Promise<UpstreamError> {
    const { reason, detail } = refused;
    const doubtful = isLost(refused) ? !isPlain(refused) : reason === 'bad_request' && detail.status === 400;
    if (!doubtful) return refused;
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 'are-you-there', method: 'ping' });
    const asked = { ...init, body: ping };
    const again = await deliver(url, asked, sendings.get(init.body)?.bearer).catch(() => undefined);
    if (again?.reason === 'session_lost' || again?.detail.status === 400)
      return isLost(refused) ? refused : new UpstreamError('session_lost', detail);
    return isLost(refused) ? aboutRequest(refused) : refused;
  }

  const channel: Channel = {
    async start() {
      try {
        await inner.start();
        started = true;
      } catch (error) {
        // What is no event stream, or names an endpoint elsewhere, is no MCP server.
        throw failure ?? new UpstreamError('garbage', { cause: error });
      }
    },
    async send(message) {
      try {
        await inner.send(message);
      } catch (error) {
        if (error instanceof NoToken) throw error;
        if (!isLost(error))
          throw error instanceof UpstreamError ? error : new UpstreamError('ended', { cause: error });
        // It was not taken, so it may go out again, on a conversation of its own; what was sent before it may have run.
        const ended = new UpstreamError('ended', { cause: error });
        if ('method' in message && 'id' in message) channel.onfailure?.(message.id, ended);
        end(new UpstreamError('reset', { cause: error }));
        throw ended;
      }
    },
    async sendAs(message, sending) {
      const text = JSON.stringify(message);
      sendings.set(text, sending);
      try {
        await channel.send(message);
      } finally {
        if (sendings.get(text) === sending) sendings.delete(text);
      }
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
  };

  function end(why: Error): void {
    channel.onerror?.(why);
    // Not at once: the event source starts its timer for a new attempt only after it has told of the failure.
    queueMicrotask(() => void inner.close());
  }

  inner.onmessage = (message) => channel.onmessage?.(message);
  inner.onclose = () => channel.onclose?.();
  inner.onerror = (error) => {
    // A new stream would be a new session that nobody has initialised: the conversation is over.
    if (started && error instanceof SseError) end(failure ?? new UpstreamError('reset'));
  };
  return channel;
}

async function refusal(response: Response, about: Omit<Refused, 'era'>): Promise<UpstreamError> {
  const { status, headers } = response;
  const header = (name: string) => headers.get(name) ?? undefined;
  if (!bodyDecides(status)) void response.body?.cancel().catch(() => undefined);
  const text = bodyDecides(status) ? await response.text().catch(() => '') : '';
  return classifyStatus({ status, header, text }, { era: 'legacy', ...about });
}

function idOf(body: RequestInit['body']): number | undefined {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isObject(message) && typeof message['id'] === 'number' ? message['id'] : undefined;
}

/** The same bytes; how they ended is noted, because the event source keeps no error. */
function watched(
  body: ReadableStream<Uint8Array> | null,
  note: (error: unknown) => void,
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
          note(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
