import type { ServerResponse } from 'node:http';
import type { JsonObject, RevocationMonitor } from '@behalf/gateway';
import { ActiveSet, type Cancel, type Clock } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { KEEP_ALIVE_MS, type MessageStream, createMessageStream } from '../../../http/sse.ts';
import type { RpcId } from '../rpc.ts';
import type { SessionKey } from '../sealed.ts';
import type { BufferedStream, StreamBuffers } from './streamBuffer.ts';

/** The response to one request: plain JSON, or an event stream if notifications or requests precede the result. */
export interface Reply {
  /** Whether headers were sent. The status can no longer change then. */
  readonly isStarted: boolean;
  /** Whether the client accepts an event stream, and therefore requests of the server before the result. */
  readonly canSendRequests: boolean;
  /** Sends a notification. It is dropped if the client accepts no stream or does not keep up. */
  notify(method: string, params: JsonObject): void;
  /** Sends a request to the client. Returns false if the client accepts no stream. */
  sendRequest(id: RpcId, method: string, params: JsonObject): boolean;
  /** Sends the response. `text` is the complete JSON-RPC message. */
  finish(text: string, status: number): void;
  /** Ends without a response, for a canceled request. */
  abandon(): void;
  /** Releases the reply without a response. The caller sends an HTTP error instead. */
  close(): void;
}

export interface ReplyParts {
  readonly clock: Clock;
  /** The headers of every response, as a flat list of names and values. */
  readonly headers: readonly string[];
  readonly streamBuffers: Pick<StreamBuffers, 'begin'>;
  readonly ticker: SharedTicker;
  readonly callerWatch: Pick<RevocationMonitor, 'subscribe'>;
}

export interface ReplyOptions {
  /** Only for legacy requests: buffers the stream, so that the client can resume it. */
  readonly sessionKey: SessionKey | undefined;
  /** The JSON-RPC id of the request. */
  readonly requestId?: RpcId;
  /** The revision defines priming events: events without content whose id allows the client to resume the stream. */
  readonly sendsPrimingEvent: boolean;
  /** Cancels the request when the caller's credentials are revoked. By default the connection is closed. */
  readonly cancel?: () => void;
}

type ReplyExchange = Pick<FastExchange, 'req' | 'res' | 'json' | 'caller'>;

/** A request that takes longer than this sends a priming event. */
const PRIMING_DELAY_MS = 3_000;

export function createReply(exchange: ReplyExchange, parts: ReplyParts, options: ReplyOptions): Reply {
  return acceptsEventStream(exchange.req.headers.accept)
    ? new EventReply(exchange, parts, options)
    : new JsonReply(exchange);
}

/** A reply to a client that accepts event streams. A class, and the stream is created on first use: most calls need none. */
class EventReply implements Reply, TickListener {
  readonly canSendRequests = true;
  readonly #exchange: ReplyExchange;
  readonly #parts: ReplyParts;
  readonly #options: ReplyOptions;
  /** Messages of the server after the response are dropped: they would open a stream that never ends. */
  #isFinished = false;
  readonly #leaveTicker: () => void;
  #openedStream: MessageStream | undefined;
  #buffered: BufferedStream | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(exchange: ReplyExchange, parts: ReplyParts, options: ReplyOptions) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#options = options;
    this.#leaveTicker = parts.ticker.add(this);
  }

  get isStarted(): boolean {
    return this.#exchange.res.headersSent;
  }

  onTick(ageMs: number): void {
    if (this.#isFinished) return;
    // Subscribes on the first tick: most calls finish earlier.
    this.#stopWatching ??= this.#parts.callerWatch.subscribe(this.#exchange.caller, () => this.#cancel());
    const { sessionKey, sendsPrimingEvent } = this.#options;
    if (sessionKey && sendsPrimingEvent && !this.#buffered && ageMs >= PRIMING_DELAY_MS)
      this.#bufferedStream()?.sendPrimingEvent();
    // Starts the stream, which then sends its own keep-alive comments.
    else if (!this.#openedStream && ageMs >= KEEP_ALIVE_MS - PRIMING_DELAY_MS) this.#stream.start();
  }

  notify(method: string, params: JsonObject): void {
    if (this.#isFinished) return;
    const text = JSON.stringify({ jsonrpc: '2.0', method, params });
    const buffered = this.#bufferedStream();
    if (buffered) buffered.sendIfReady(text);
    else this.#stream.sendIfReady(text);
  }

  sendRequest(id: RpcId, method: string, params: JsonObject): boolean {
    if (this.#isFinished) return false;
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const buffered = this.#bufferedStream();
    if (buffered) buffered.emit(text);
    else this.#stream.send(text);
    return true;
  }

  finish(text: string, status: number): void {
    this.#release();
    if (this.#buffered) this.#buffered.finish(text);
    else if (this.#openedStream?.isStarted) {
      this.#openedStream.send(text);
      this.#openedStream.end();
    } else sendJson(this.#exchange, text, status);
  }

  abandon(): void {
    this.close();
    // A client that canceled the request reads the end of the stream.
    this.#stream.start();
    this.#stream.end();
  }

  close(): void {
    this.#release();
    // Also ends the stream for a client that resumed it with another request.
    this.#buffered?.drop();
  }

  #release(): void {
    this.#isFinished = true;
    this.#leaveTicker();
    this.#stopWatching?.();
    this.#openedStream?.close();
  }

  #cancel(): void {
    const { cancel } = this.#options;
    if (cancel) cancel();
    else this.#exchange.res.destroy();
  }

  get #stream(): MessageStream {
    return (this.#openedStream ??= createMessageStream(this.#exchange.res, this.#parts));
  }

  #bufferedStream(): BufferedStream | undefined {
    const { sessionKey, requestId } = this.#options;
    if (this.#buffered || !sessionKey || requestId === undefined) return this.#buffered;
    return (this.#buffered = this.#parts.streamBuffers.begin(sessionKey, requestId, this.#stream));
  }
}

/** A reply to a client that accepts only JSON. */
class JsonReply implements Reply {
  readonly isStarted = false;
  readonly canSendRequests = false;
  readonly #exchange: ReplyExchange;

  constructor(exchange: ReplyExchange) {
    this.#exchange = exchange;
  }

  notify(): void {
    // The client accepts no stream.
  }

  sendRequest(): boolean {
    return false;
  }

  finish(text: string, status: number): void {
    sendJson(this.#exchange, text, status);
  }

  abandon(): void {
    this.#exchange.res.destroy();
  }

  close(): void {
    // No stream is open.
  }
}

function sendJson({ res, json }: ReplyExchange, text: string, status: number): void {
  if (!res.destroyed && !res.writableEnded) json(status, text);
}

/** The response to notifications and responses. */
export function sendAccepted(res: ServerResponse, headers: readonly string[], status: 202 | 204 = 202): void {
  res.writeHead(status, [...headers, ...(status === 202 ? ['Content-Length', '0'] : [])]).end();
}

const USUAL_ACCEPT = 'application/json, text/event-stream';

export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === USUAL_ACCEPT) return true;
  return accept !== undefined && /(^|,)\s*(text\/event-stream|text\/\*|\*\/\*)\s*(;|,|$)/i.test(accept);
}

interface TickListener {
  /** Called about once a second with the time since the listener was added. */
  onTick(ageMs: number): void;
}

type SharedTicker = ReturnType<typeof createSharedTicker>;

const TICK_MS = 1_000;

interface TickEntry {
  readonly listener: TickListener;
  readonly since: number;
}

/** One timer for all requests in progress. A timer per request would cost more than the rest of a short request. */
export function createSharedTicker(clock: Clock) {
  const entries = new ActiveSet<TickEntry>();
  let cancel: Cancel | undefined;
  function tick(): void {
    const now = clock.now();
    for (const { listener, since } of entries) listener.onTick(now - since);
    cancel = entries.size > 0 ? clock.timer(TICK_MS, tick) : undefined;
  }
  return {
    /** Returns a function that removes the listener. */
    add(listener: TickListener): () => void {
      const entry = { listener, since: clock.now() };
      const slot = entries.add(entry);
      cancel ??= clock.timer(TICK_MS, tick);
      return () => entries.remove(slot, entry);
    },
  };
}
