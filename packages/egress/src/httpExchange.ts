import { setMaxListeners } from 'node:events';
import { type Cancel, type Cancellation, type Clock, abortReason } from '@behalf/kernel';
import { EgressError } from './errors.ts';

/** In milliseconds. Each timeout has its own error code. */
export interface Timeouts {
  /** DNS, TCP connect, proxy handshake and TLS of a new connection. */
  readonly connectMs: number;
  /** From the request to the first byte of the response, including the time to connect. */
  readonly headersMs: number;
  /**
   * The whole exchange including redirects. For an event stream, which has no end, this limit applies only until
   * the headers.
   */
  readonly totalMs: number;
  /** The longest pause within a body. */
  readonly idleMs: number;
}

export interface Limits {
  /** Applies to a body that is not an event stream, and to a single event of a stream. */
  readonly bodyBytes: number;
  /** Applies to one line of an event stream. */
  readonly sseLineBytes: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 60_000,
  totalMs: 300_000,
  idleMs: 300_000,
};
export const defaultLimits: Limits = { bodyBytes: 16 * 1024 * 1024, sseLineBytes: 5 * 1024 * 1024 };

/** Aborted when the exchange times out or its caller aborts. */
interface AbortTarget {
  abort(error: Error): void;
}

/**
 * One request with its redirects and its body. A timeout or the caller's signal can end it at any time. This is a
 * class rather than a closure because the hot path creates one per request.
 */
export class HttpExchange {
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #callerSignal: Cancellation | null | undefined;
  readonly #startedAt: number;
  #phase: 'headers' | 'body' | 'stream' = 'headers';
  /** When the phase began or the last chunk arrived. */
  #since: number;
  #host = '';
  #abortTarget: AbortTarget | undefined;
  #hasEnded = false;
  #cancel: Cancel | undefined;
  #armedFor = Infinity;
  /** The reason if the exchange failed. */
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
    // One signal may belong to a connection with many requests. Each exchange removes its listener when it ends.
    if (callerSignal instanceof EventTarget) setMaxListeners(0, callerSignal);
    callerSignal.addEventListener('abort', this);
  }

  /** Called when the caller's signal aborts. */
  handleEvent(): void {
    this.fail(abortReason(this.#callerSignal as Cancellation));
  }

  /** Starts the headers phase of a request to `host`. */
  awaitHeaders(host: string, abortTarget: AbortTarget): void {
    this.#host = host;
    this.#abortTarget = abortTarget;
    this.#phase = 'headers';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** The headers arrived: from now on the idle timeout applies, and the total timeout unless the body is a stream. */
  startBody(isEventStream: boolean): void {
    this.#phase = isEventStream ? 'stream' : 'body';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** Restarts the idle timeout when a chunk arrives. */
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

  /** When the timeout of the current phase expires. */
  #stepEnd(): number {
    return this.#since + (this.#phase === 'headers' ? this.#timeouts.headersMs : this.#timeouts.idleMs);
  }

  #totalEnd(): number {
    return this.#phase === 'stream' ? Infinity : this.#startedAt + this.#timeouts.totalMs;
  }

  /**
   * Uses one timer. It is replaced only by an earlier deadline; a timer that fires too early is set again. A chunk
   * therefore costs no timer.
   */
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

/** Inspects each received chunk. A returned error ends the exchange. */
export type BodyGuard = (chunk: Uint8Array) => EgressError | undefined;

const LF = 10;
const CR = 13;

/** Whether the media type is exactly `text/event-stream`, with any parameters. */
export function isEventStream(contentType: string): boolean {
  const semicolon = contentType.indexOf(';');
  const essence = semicolon < 0 ? contentType : contentType.slice(0, semicolon);
  return essence.trim().toLowerCase() === 'text/event-stream';
}

/** The smallest average chunk size of a body. Each chunk costs processing time, however small it is. */
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
 * Limits lines and events instead of the total, because a stream may run for days. A reader buffers one line, and
 * one event until its blank line. Without both limits, endless `data:` lines would exhaust memory.
 */
export function createEventStreamGuard(host: string, { sseLineBytes, bodyBytes }: Limits): BodyGuard {
  let lineBytes = 0;
  let eventBytes = 0;
  let lastWasCr = false;
  return (chunk) => {
    // Reads each byte once, for any mix of line endings.
    for (const byte of chunk) {
      if (byte !== LF && byte !== CR) {
        lineBytes += 1;
        eventBytes += 1;
        lastWasCr = false;
        if (lineBytes > sseLineBytes) return lineTooLarge(host, sseLineBytes);
        if (eventBytes > bodyBytes) return bodyTooLarge(host, bodyBytes);
        continue;
      }
      // An LF after a CR belongs to the same line ending; it is not a blank line.
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
