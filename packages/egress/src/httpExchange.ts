import { setMaxListeners } from 'node:events';
import { type Cancel, type Cancellation, type Clock, abortReason } from '@behalf/kernel';
import { EgressError } from './errors.ts';

/** Milliseconds. Each one is a typed error of its own. */
export interface Timeouts {
  /** DNS, TCP, the proxy's hand-shake and TLS of a new connection. */
  readonly connectMs: number;
  /** From sending a request to the first byte of its answer; a new connection counts. */
  readonly headersMs: number;
  /** The whole exchange with its redirects. An event stream is open-ended: for it this ends with the headers. */
  readonly totalMs: number;
  /** The longest silence within a body. */
  readonly idleMs: number;
}

export interface Limits {
  /** A body that is not an event stream, and one single event of a stream. */
  readonly bodyBytes: number;
  /** One line of an event stream. */
  readonly sseLineBytes: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 60_000,
  totalMs: 300_000,
  idleMs: 300_000,
};
export const defaultLimits: Limits = { bodyBytes: 16 * 1024 * 1024, sseLineBytes: 5 * 1024 * 1024 };

/** What an exchange ends when its time is over or its caller leaves. */
interface AbortTarget {
  abort(error: Error): void;
}

/**
 * One request with its redirects and its body: the clock and the caller's signal can end it at any time. A class and
 * not a closure, because one is made for every request of the hot path.
 */
export class HttpExchange {
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #callerSignal: Cancellation | null | undefined;
  readonly #startedAt: number;
  #phase: 'headers' | 'body' | 'stream' = 'headers';
  /** When the phase began or the last byte came. */
  #since: number;
  #host = '';
  #abortTarget: AbortTarget | undefined;
  #hasEnded = false;
  #cancel: Cancel | undefined;
  #armedFor = Infinity;
  /** Why it was ended early. */
  error: Error | undefined;

  constructor(clock: Clock, timeouts: Timeouts, callerSignal: Cancellation | null | undefined) {
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#callerSignal = callerSignal;
    this.#startedAt = clock.now();
    this.#since = this.#startedAt;
    if (!callerSignal) return;
    if (callerSignal.aborted) {
      this.fail(abortReason(callerSignal));
      return;
    }
    // One signal may stand for a connection that carries many requests; each takes its listener off at its end.
    if (callerSignal instanceof EventTarget) setMaxListeners(0, callerSignal);
    callerSignal.addEventListener('abort', this);
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.fail(abortReason(this.#callerSignal as Cancellation));
  }

  /** `running` goes to `host` now: the wait for its headers begins. */
  awaitHeaders(host: string, abortTarget: AbortTarget): void {
    this.#host = host;
    this.#abortTarget = abortTarget;
    this.#phase = 'headers';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** Headers have come: from now on silence is measured, and for anything but a stream the total time. */
  startBody(isEventStream: boolean): void {
    this.#phase = isEventStream ? 'stream' : 'body';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** A chunk has come. */
  recordProgress(): void {
    this.#since = this.#clock.now();
  }

  throwIfFailed(): void {
    if (this.error) throw this.error;
  }

  fail(error: Error): void {
    if (this.#hasEnded) return;
    this.error = error;
    this.end();
    this.#abortTarget?.abort(error);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancel?.();
    this.#callerSignal?.removeEventListener('abort', this);
  }

  /** The longest silence of this phase ends here. */
  #stepEnd(): number {
    return this.#since + (this.#phase === 'headers' ? this.#timeouts.headersMs : this.#timeouts.idleMs);
  }

  #totalEnd(): number {
    return this.#phase === 'stream' ? Infinity : this.#startedAt + this.#timeouts.totalMs;
  }

  /** One timer, set anew only for an earlier end; one that fires early looks again. A chunk costs no timer. */
  #arm(): void {
    const dueAt = Math.min(this.#stepEnd(), this.#totalEnd());
    if (this.#hasEnded || dueAt >= this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = dueAt;
    this.#cancel = this.#clock.timer(Math.max(0, dueAt - this.#clock.now()), () => this.#check());
  }

  #check(): void {
    this.#armedFor = Infinity;
    const { headersMs, idleMs, totalMs } = this.#timeouts;
    const stepEnd = this.#stepEnd();
    const totalEnd = this.#totalEnd();
    if (this.#clock.now() < Math.min(stepEnd, totalEnd)) this.#arm();
    else if (totalEnd <= stepEnd) this.#failWithTimeout('total_timeout', totalMs);
    else if (this.#phase === 'headers') this.#failWithTimeout('headers_timeout', headersMs);
    else this.#failWithTimeout('idle_timeout', idleMs);
  }

  #failWithTimeout(reason: 'headers_timeout' | 'total_timeout' | 'idle_timeout', ms: number): void {
    this.fail(new EgressError(reason, this.#host, { detail: `${ms} ms`, requestSent: true }));
  }
}

/** Looks at each chunk on its way in; the error it returns ends the exchange. */
export type BodyGuard = (chunk: Uint8Array) => EgressError | undefined;

const LF = 10;
const CR = 13;

/** True for exactly this media type, whatever its parameters. A type that merely mentions it is no stream. */
export function isEventStream(contentType: string): boolean {
  const semicolon = contentType.indexOf(';');
  const essence = semicolon < 0 ? contentType : contentType.slice(0, semicolon);
  return essence.trim().toLowerCase() === 'text/event-stream';
}

/** A body may come in pieces this small on the whole; each one costs us time, whatever is in it. */
const MIN_AVERAGE_CHUNK_BYTES = 16;
const MIN_CHUNK_LIMIT = 1_024;

export function createBodyGuard(host: string, { bodyBytes }: Limits): BodyGuard {
  const maxChunks = Math.max(MIN_CHUNK_LIMIT, bodyBytes / MIN_AVERAGE_CHUNK_BYTES);
  let totalBytes = 0;
  let chunkCount = 0;
  return (chunk) => {
    totalBytes += chunk.length;
    chunkCount += 1;
    return totalBytes > bodyBytes || chunkCount > maxChunks ? bodyTooLarge(host, bodyBytes) : undefined;
  };
}

export function bodyTooLarge(host: string, bodyBytes: number): EgressError {
  return new EgressError('body_too_large', host, { detail: `${bodyBytes} bytes`, requestSent: true });
}

/**
 * A stream may run for days, so its sum says nothing. What a reader must hold in memory is one line, and one event
 * until the blank line that ends it: both are capped, or endless `data:` lines would fill the heap.
 */
export function createEventStreamGuard(host: string, { sseLineBytes, bodyBytes }: Limits): BodyGuard {
  let lineBytes = 0;
  let eventBytes = 0;
  let lastWasCr = false;
  return (chunk) => {
    // Byte by byte: whatever the mix of line ends, each byte is looked at once.
    for (const byte of chunk) {
      if (byte !== LF && byte !== CR) {
        lineBytes += 1;
        eventBytes += 1;
        lastWasCr = false;
        if (lineBytes > sseLineBytes) return lineTooLarge(host, sseLineBytes);
        if (eventBytes > bodyBytes) return bodyTooLarge(host, bodyBytes);
        continue;
      }
      // LF right after CR is the second half of one line end, not a blank line.
      if (byte === CR || !lastWasCr) {
        if (lineBytes === 0) eventBytes = 0;
        lineBytes = 0;
      }
      lastWasCr = byte === CR;
    }
    return undefined;
  };
}

function lineTooLarge(host: string, sseLineBytes: number): EgressError {
  return new EgressError('sse_line_too_large', host, { detail: `${sseLineBytes} bytes`, requestSent: true });
}
