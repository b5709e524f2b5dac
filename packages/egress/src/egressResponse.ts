import { ByteQueue, type Clock } from '@behalf/kernel';
import type { Dispatcher } from 'undici';
import {
  type BodyGuard,
  type HttpExchange,
  type Limits,
  createBodyGuard,
  createEventStreamGuard,
  isEventStream,
} from './httpExchange.ts';
import { toEgressError } from './errors.ts';

type Controller = Dispatcher.DispatchController;
type HeaderRecord = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

interface PendingRead {
  resolve(chunk: Buffer | undefined): void;
  reject(error: Error): void;
}

/** How many unread bytes the response buffers before it pauses the socket. */
const HIGH_WATER_BYTES = 65_536;
/**
 * An unwanted body is read up to this size, so that the connection can be reused. Reading more costs more than a
 * new connection.
 */
const MAX_DRAIN_BYTES = 16_384;
/**
 * The same limit in time: a server that announces a body and never sends it must not occupy a socket for a whole
 * call.
 */
const MAX_DRAIN_MS = 1_000;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The response to one request: status and headers, then the body, which can be read once. It handles the events of
 * the HTTP client directly, because a stream object per response costs more than all checks together.
 */
export class EgressResponse implements Dispatcher.DispatchHandler {
  readonly #host: string;
  readonly #exchange: HttpExchange;
  readonly #limits: Limits;
  readonly #clock: Clock;
  /** Returns the connection pool entry. */
  readonly #release: () => void;
  readonly headReceived: Promise<void>;
  #settleHead!: { resolve(): void; reject(error: Error): void };
  status = 0;
  statusText = '';
  headers: HeaderRecord = {};
  isEventStreamBody = false;
  /** The target of a redirect. */
  location: string | undefined;
  /** False for a redirect that is followed: the exchange continues after this response. */
  #isFinal = true;
  #guard!: BodyGuard;
  #controller: Controller | undefined;
  readonly #queue = new ByteQueue();
  #drained = 0;
  #buffersWholeBody = false;
  #reader: PendingRead | undefined;
  #drain: (() => void) | undefined;
  #hasEnded = false;
  #error: Error | undefined;

  constructor(host: string, exchange: HttpExchange, limits: Limits, clock: Clock, release: () => void) {
    this.#host = host;
    this.#exchange = exchange;
    this.#limits = limits;
    this.#clock = clock;
    this.#release = release;
    this.headReceived = new Promise((resolve, reject) => (this.#settleHead = { resolve, reject }));
  }

  /** Returns one header. Several values are joined with a comma (RFC 9110 section 5.3). */
  header(name: string): string | undefined {
    const value = this.headers[name];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined;
  }

  /** Marks this response as the one that the caller receives. */
  accept(): void {
    this.#isFinal = true;
    if (this.#hasEnded) this.#exchange.end();
  }

  /** Returns the next chunk of the body; undefined at its end. */
  readChunk(): Promise<Buffer | undefined> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#resume();
      return Promise.resolve(chunk);
    }
    if (this.#error) return Promise.reject(this.#error);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#resume();
    });
  }

  async readAll(): Promise<Buffer> {
    this.#buffersWholeBody = true;
    this.#resume();
    if (!this.#hasEnded && !this.#error) {
      await new Promise<unknown>((resolve, reject) => (this.#reader = { resolve, reject }));
    }
    if (this.#error) throw this.#error;
    return this.#queue.drain();
  }

  /** Ignores the rest of the body. Resolves when the socket can be reused or is closed. Never rejects. */
  discard(): Promise<void> {
    this.#queue.clear();
    if (this.#hasEnded || this.#error) return Promise.resolve();
    if (this.isEventStreamBody) {
      this.cancel();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const cancelTimer = this.#clock.timer(MAX_DRAIN_MS, () => this.cancel());
      this.#drain = () => {
        cancelTimer();
        resolve();
      };
      this.#resume();
    });
  }

  /** Closes the connection because the reader stops before the end of the body. */
  cancel(): void {
    if (!this.#hasEnded)
      this.abort(new DOMException('The response body was discarded before its end', 'AbortError'));
  }

  abort(error: Error): void {
    // Without a connection there is nothing to close; onRequestStart then finds the error.
    this.#fail(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#error) controller.abort(this.#error);
  }

  onResponseStart(_controller: Controller, status: number, headers: HeaderRecord, statusText = ''): void {
    // Ignores interim 1xx responses (RFC 9110 section 15.2).
    if (status < 200 || this.#error) return;
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.isEventStreamBody = isEventStream(this.header('content-type') ?? '');
    if (REDIRECT_STATUSES.has(status)) {
      this.location = this.header('location');
      this.#isFinal = this.location === undefined;
    }
    this.#guard = (this.isEventStreamBody ? createEventStreamGuard : createBodyGuard)(
      this.#host,
      this.#limits,
    );
    this.#exchange.startBody(this.isEventStreamBody);
    this.#settleHead.resolve();
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#error) return;
    this.#exchange.recordProgress();
    const limitError = this.#guard(chunk);
    if (limitError) {
      this.#exchange.fail(limitError);
      return;
    }
    if (this.#drain) {
      this.#drained += chunk.length;
      if (this.#drained > MAX_DRAIN_BYTES) this.cancel();
      return;
    }
    if (this.#reader && !this.#buffersWholeBody) {
      const reader = this.#reader;
      this.#reader = undefined;
      reader.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    if (!this.#buffersWholeBody && this.#queue.length >= HIGH_WATER_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#error) return;
    this.#hasEnded = true;
    this.#finish();
    this.#reader?.resolve(undefined);
    this.#drain?.();
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    // If the request never started, no bytes were sent.
    this.#fail(this.#exchange.error ?? toEgressError(error, this.#host, this.#controller !== undefined));
  }

  #fail(error: Error): void {
    if (this.#hasEnded || this.#error) return;
    this.#error = error;
    this.#finish();
    if (this.status === 0) this.#settleHead.reject(error);
    this.#reader?.reject(error);
    this.#drain?.();
  }

  #finish(): void {
    if (this.#isFinal) this.#exchange.end();
    this.#release();
  }

  #resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume();
  }
}
