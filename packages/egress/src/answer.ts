import { ByteQueue, type Clock } from '@behalf/kernel';
import type { Dispatcher } from 'undici';
import { createBodyGuard, createEventStreamGuard, isEventStream, type BodyGuard } from './bodyGuard.ts';
import { connectionError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Limits } from './limits.ts';

type Controller = Dispatcher.DispatchController;
type HeaderRecord = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

interface Reader {
  resolve(chunk: Buffer | undefined): void;
  reject(error: Error): void;
}

/** What nobody has asked for yet may lie here; then the socket waits. */
const HIGH_WATER = 65_536;
/** A body that nobody wants is read up to here, to keep its connection; a longer one costs more than a new one. */
const DRAIN_BYTES = 16_384;
/** The same in time: a server that announces a body and never sends it would hold a socket for as long as a call may take. */
const DRAIN_MS = 1_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The answer to one request on one socket: its head, then its body, read once. It takes the HTTP client's events
 * directly: a stream object for every answer would cost more than all checks together.
 */
export class Answer implements Dispatcher.DispatchHandler {
  readonly #host: string;
  readonly #exchange: Exchange;
  readonly #limits: Limits;
  readonly #clock: Clock;
  /** Hands the pool back. */
  readonly #release: () => void;
  readonly head: Promise<void>;
  #settleHead!: { resolve(): void; reject(error: Error): void };
  status = 0;
  statusText = '';
  headers: HeaderRecord = {};
  stream = false;
  /** Where a redirect leads. */
  location: string | undefined;
  /** False for a redirect that is followed: the exchange goes on without this answer. */
  #last = true;
  #guard!: BodyGuard;
  #controller: Controller | undefined;
  readonly #queue = new ByteQueue();
  #drained = 0;
  #whole = false;
  #reader: Reader | undefined;
  #drain: (() => void) | undefined;
  #ended = false;
  #error: Error | undefined;

  constructor(host: string, exchange: Exchange, limits: Limits, clock: Clock, release: () => void) {
    this.#host = host;
    this.#exchange = exchange;
    this.#limits = limits;
    this.#clock = clock;
    this.#release = release;
    this.head = new Promise((resolve, reject) => (this.#settleHead = { resolve, reject }));
  }

  /** One header; several values are joined as RFC 9110 section 5.3 has it. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined;
  }

  /** It is handed to the caller, also when it is a redirect. */
  accept(): void {
    this.#last = true;
    if (this.#ended) this.#exchange.end();
  }

  /** The next piece of the body, or undefined at its end. */
  next(): Promise<Buffer | undefined> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#resume();
      return Promise.resolve(chunk);
    }
    if (this.#error) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#resume();
    });
  }

  /** The whole body. */
  async bytes(): Promise<Buffer> {
    this.#whole = true;
    this.#resume();
    if (!this.#ended && !this.#error) {
      await new Promise<unknown>((resolve, reject) => (this.#reader = { resolve, reject }));
    }
    if (this.#error) throw this.#error;
    return this.#queue.take();
  }

  /** Nobody wants the rest. Resolves when the socket is free again or closed; never rejects. */
  discard(): Promise<void> {
    this.#queue.clear();
    if (this.#ended || this.#error) return Promise.resolve();
    if (this.stream) {
      this.cancel();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const stop = this.#clock.timer(DRAIN_MS, () => this.cancel());
      this.#drain = () => {
        stop();
        resolve();
      };
      this.#resume();
    });
  }

  /** The reader leaves before the end: the server is told by closing. */
  cancel(): void {
    if (!this.#ended) this.abort(new DOMException('The body was given up', 'AbortError'));
  }

  abort(error: Error): void {
    // Before a connection stands there is nothing to close; onRequestStart then finds the error.
    this.#fail(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#error) controller.abort(this.#error);
  }

  onResponseStart(_controller: Controller, status: number, headers: HeaderRecord, statusText = ''): void {
    // 1xx comes before the answer (RFC 9110 section 15.2).
    if (status < 200 || this.#error) return;
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.stream = isEventStream(this.header('content-type') ?? '');
    if (REDIRECTS.has(status)) {
      this.location = this.header('location');
      this.#last = this.location === undefined;
    }
    this.#guard = (this.stream ? createEventStreamGuard : createBodyGuard)(this.#host, this.#limits);
    this.#exchange.receive(this.stream);
    this.#settleHead.resolve();
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#error) return;
    this.#exchange.progress();
    const breach = this.#guard(chunk);
    if (breach) {
      this.#exchange.fail(breach);
      return;
    }
    if (this.#drain) {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.cancel();
      return;
    }
    if (this.#reader && !this.#whole) {
      const reader = this.#reader;
      this.#reader = undefined;
      reader.resolve(chunk);
      return;
    }
    this.#queue.push(chunk);
    if (!this.#whole && this.#queue.length >= HIGH_WATER) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#error) return;
    this.#ended = true;
    this.#finish();
    this.#reader?.resolve(undefined);
    this.#drain?.();
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    // Without a start nothing was written.
    this.#fail(this.#exchange.error ?? connectionError(error, this.#host, this.#controller !== undefined));
  }

  #fail(error: Error): void {
    if (this.#ended || this.#error) return;
    this.#error = error;
    this.#finish();
    if (this.status === 0) this.#settleHead.reject(error);
    this.#reader?.reject(error);
    this.#drain?.();
  }

  #finish(): void {
    if (this.#last) this.#exchange.end();
    this.#release();
  }

  #resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume();
  }
}
