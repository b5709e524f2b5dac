import type { ServerResponse } from 'node:http';
import type { JsonObject, RevocationMonitor } from '@behalf/gateway';
import { ActiveSet, type Cancel, type Clock } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { KEEP_ALIVE_MS, type MessageStream, createMessageStream } from '../../../http/sse.ts';
import type { RpcId } from '../rpc.ts';
import type { SessionKey } from '../session/mailbox.ts';
import type { BufferedStream, StreamBuffers } from './streamBuffer.ts';

/** The answer to one request: plain JSON, unless something has to be said before it. */
export interface Reply {
  /** Whether something was sent: then there is no status any more. */
  readonly isStarted: boolean;
  /** Whether the client reads a stream, so that it can be asked something before the answer. */
  readonly canSendRequests: boolean;
  /** A client that does not listen, or does not keep up, misses these. */
  notify(method: string, params: JsonObject): void;
  /** Sends a request to the client. False when it cannot be sent: the client takes no events. */
  sendRequest(id: RpcId, method: string, params: JsonObject): boolean;
  /** The last word: `text` is the whole message. */
  finish(text: string, status: number): void;
  /** Ends without one: nobody waits for it. */
  abandon(): void;
  /** Leaves the answer to somebody else. */
  close(): void;
}

export interface ReplyParts {
  readonly clock: Clock;
  /** Of every answer, as a flat list. */
  readonly headers: readonly string[];
  readonly streamBuffers: Pick<StreamBuffers, 'begin'>;
  readonly ticker: SharedTicker;
  readonly callerWatch: Pick<RevocationMonitor, 'subscribe'>;
}

export interface ReplyOptions {
  /** Legacy: what was sent is kept for a client that comes back. */
  readonly sessionKey: SessionKey | undefined;
  /** What the client calls it. */
  readonly requestId?: RpcId;
  /** The revision has events without content: they say where a stream can be taken up again. */
  readonly sendsPrimingEvent: boolean;
  /** What its caller came in with was taken back: nothing goes on in their name. By default as if they had left. */
  readonly cancel?: () => void;
}

type ReplyExchange = Pick<FastExchange, 'req' | 'res' | 'json' | 'caller'>;

/** A call that takes longer than this can be taken up again by its client. */
const PRIMING_DELAY_MS = 3_000;

export function createReply(exchange: ReplyExchange, parts: ReplyParts, options: ReplyOptions): Reply {
  return acceptsEventStream(exchange.req.headers.accept)
    ? new EventReply(exchange, parts, options)
    : new JsonReply(exchange);
}

/** For who takes events. A class, and no stream before there is something to say: most calls are answered at once. */
class EventReply implements Reply, TickListener {
  readonly canSendRequests = true;
  readonly #exchange: ReplyExchange;
  readonly #parts: ReplyParts;
  readonly #options: ReplyOptions;
  /** What a server says after the last word would begin a stream that nobody ends. */
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
    // Only now: most calls are over before anybody could take a key back.
    this.#stopWatching ??= this.#parts.callerWatch.subscribe(this.#exchange.caller, () => this.#cancel());
    const { sessionKey, sendsPrimingEvent } = this.#options;
    if (sessionKey && sendsPrimingEvent && !this.#buffered && ageMs >= PRIMING_DELAY_MS)
      this.#bufferedStream()?.sendPrimingEvent();
    // From here on the stream keeps itself alive.
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
    // A client that has left is told nothing; one that cancelled reads the end of a stream without an answer.
    this.#stream.start();
    this.#stream.end();
  }

  close(): void {
    this.#release();
    // Also what its client reads of it by another request: no end would ever come.
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

/** For who takes none. */
class JsonReply implements Reply {
  readonly isStarted = false;
  readonly canSendRequests = false;
  readonly #exchange: ReplyExchange;

  constructor(exchange: ReplyExchange) {
    this.#exchange = exchange;
  }

  notify(): void {
    // There is nowhere to say it.
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
    // Nothing is open.
  }
}

function sendJson({ res, json }: ReplyExchange, text: string, status: number): void {
  if (!res.destroyed && !res.writableEnded) json(status, text);
}

/** The answer to what asks for none. */
export function sendAccepted(res: ServerResponse, headers: readonly string[], status: 202 | 204 = 202): void {
  res.writeHead(status, [...headers, ...(status === 202 ? ['Content-Length', '0'] : [])]).end();
}

const USUAL_ACCEPT = 'application/json, text/event-stream';

export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === USUAL_ACCEPT) return true;
  return accept !== undefined && /(^|,)\s*(text\/event-stream|text\/\*|\*\/\*)\s*(;|,|$)/i.test(accept);
}

/** What is looked after while it waits. */
interface TickListener {
  /** Called about once a second with the age. */
  onTick(ageMs: number): void;
}

/** One timer for all requests under way: one for each would cost more than what most of them wait for. */
interface SharedTicker {
  /** Returns how to leave. */
  add(listener: TickListener): () => void;
}

const TICK_MS = 1_000;

interface TickEntry {
  readonly listener: TickListener;
  readonly since: number;
}

export function createSharedTicker(clock: Clock): SharedTicker {
  const entries = new ActiveSet<TickEntry>();
  let cancel: Cancel | undefined;
  function tick(): void {
    const now = clock.now();
    for (const { listener, since } of entries) listener.onTick(now - since);
    cancel = entries.size > 0 ? clock.timer(TICK_MS, tick) : undefined;
  }
  return {
    add(listener) {
      const entry = { listener, since: clock.now() };
      const slot = entries.add(entry);
      cancel ??= clock.timer(TICK_MS, tick);
      return () => entries.remove(slot, entry);
    },
  };
}
