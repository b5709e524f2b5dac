import type { ServerResponse } from 'node:http';
import type { RevocationMonitor, JsonObject } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { HotExchange } from '../../http.ts';
import type { RpcId } from '../message.ts';
import type { Place } from '../session/mailbox.ts';
import { createMessageStream, KEEP_ALIVE_MS, type MessageStream } from './messageStream.ts';
import type { Replay, Replays } from './replays.ts';
import type { Vigil, Waiting } from './vigil.ts';

/** The answer to one request: plain JSON, unless something has to be said before it. */
export interface Reply {
  /** Whether something was sent: then there is no status any more. */
  readonly begun: boolean;
  /** Whether the client reads a stream, so that it can be asked something before the answer. */
  readonly takesRequests: boolean;
  /** A client that does not listen, or does not keep up, misses these. */
  notify(method: string, params: JsonObject): void;
  /** Sends a request to the client. False when it cannot be sent: the client takes no events. */
  ask(id: RpcId, method: string, params: JsonObject): boolean;
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
  readonly replays: Pick<Replays, 'begin'>;
  readonly vigil: Vigil;
  readonly callers: Pick<RevocationMonitor, 'subscribe'>;
}

export interface ReplyOptions {
  /** Legacy: what was sent is kept for a client that comes back. */
  readonly place: Place | undefined;
  /** What the client calls it. */
  readonly request?: RpcId;
  /** The revision has events without content: they say where a stream can be taken up again. */
  readonly primes: boolean;
  /** What its caller came in with was taken back: nothing goes on in their name. By default as if they had left. */
  readonly cancel?: () => void;
}

type Answering = Pick<HotExchange, 'req' | 'res' | 'json' | 'caller'>;

/** A call that takes longer than this can be taken up again by its client. */
const PRIME_AFTER_MS = 3_000;

export function createReply(exchange: Answering, parts: ReplyParts, options: ReplyOptions): Reply {
  return wantsEvents(exchange.req.headers.accept)
    ? new EventReply(exchange, parts, options)
    : new PlainReply(exchange);
}

/** For who takes events. A class, and no stream before there is something to say: most calls are answered at once. */
class EventReply implements Reply, Waiting {
  readonly takesRequests = true;
  readonly #exchange: Answering;
  readonly #parts: ReplyParts;
  readonly #options: ReplyOptions;
  /** What a server says after the last word would begin a stream that nobody ends. */
  #over = false;
  readonly #leaveVigil: () => void;
  #opened: MessageStream | undefined;
  #replay: Replay | undefined;
  #unfollow: (() => void) | undefined;

  constructor(exchange: Answering, parts: ReplyParts, options: ReplyOptions) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#options = options;
    this.#leaveVigil = parts.vigil.enter(this);
  }

  get begun(): boolean {
    return this.#exchange.res.headersSent;
  }

  look(ageMs: number): void {
    if (this.#over) return;
    // Only now: most calls are over before anybody could take a key back.
    this.#unfollow ??= this.#parts.callers.subscribe(this.#exchange.caller, () => this.#cancel());
    const { place, primes } = this.#options;
    if (place && primes && !this.#replay && ageMs >= PRIME_AFTER_MS) this.#resumable()?.prime();
    // From here on the stream keeps itself alive.
    else if (!this.#opened && ageMs >= KEEP_ALIVE_MS - PRIME_AFTER_MS) this.#stream.begin();
  }

  notify(method: string, params: JsonObject): void {
    if (this.#over) return;
    const text = JSON.stringify({ jsonrpc: '2.0', method, params });
    const kept = this.#resumable();
    if (kept) kept.hint(text);
    else this.#stream.hint(text);
  }

  ask(id: RpcId, method: string, params: JsonObject): boolean {
    if (this.#over) return false;
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const kept = this.#resumable();
    if (kept) kept.emit(text);
    else this.#stream.send(text);
    return true;
  }

  finish(text: string, status: number): void {
    this.#settle();
    if (this.#replay) this.#replay.finish(text);
    else if (this.#opened?.begun) {
      this.#opened.send(text);
      this.#opened.end();
    } else answer(this.#exchange, text, status);
  }

  abandon(): void {
    this.close();
    // A client that has left is told nothing; one that cancelled reads the end of a stream without an answer.
    this.#stream.begin();
    this.#stream.end();
  }

  close(): void {
    this.#settle();
    // Also what its client reads of it by another request: no end would ever come.
    this.#replay?.drop();
  }

  #settle(): void {
    this.#over = true;
    this.#leaveVigil();
    this.#unfollow?.();
    this.#opened?.close();
  }

  #cancel(): void {
    const { cancel } = this.#options;
    if (cancel) cancel();
    else this.#exchange.res.destroy();
  }

  get #stream(): MessageStream {
    return (this.#opened ??= createMessageStream(this.#exchange.res, this.#parts));
  }

  #resumable(): Replay | undefined {
    const { place, request } = this.#options;
    if (this.#replay || !place || request === undefined) return this.#replay;
    return (this.#replay = this.#parts.replays.begin(place, request, this.#stream));
  }
}

/** For who takes none. */
class PlainReply implements Reply {
  readonly begun = false;
  readonly takesRequests = false;
  readonly #exchange: Answering;

  constructor(exchange: Answering) {
    this.#exchange = exchange;
  }

  notify(): void {
    // There is nowhere to say it.
  }

  ask(): boolean {
    return false;
  }

  finish(text: string, status: number): void {
    answer(this.#exchange, text, status);
  }

  abandon(): void {
    this.#exchange.res.destroy();
  }

  close(): void {
    // Nothing is open.
  }
}

function answer({ res, json }: Answering, text: string, status: number): void {
  if (!res.destroyed && !res.writableEnded) json(status, text);
}

/** The answer to what asks for none. */
export function accepted(res: ServerResponse, headers: readonly string[], status: 202 | 204 = 202): void {
  res.writeHead(status, [...headers, ...(status === 202 ? ['Content-Length', '0'] : [])]).end();
}

const USUAL = 'application/json, text/event-stream';

export function wantsEvents(accept: string | undefined): boolean {
  if (accept === USUAL) return true;
  return accept !== undefined && /(^|,)\s*(text\/event-stream|text\/\*|\*\/\*)\s*(;|,|$)/i.test(accept);
}
