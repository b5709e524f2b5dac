import { setMaxListeners } from 'node:events';
import { abortReason, type Cancel, type Cancellation, type Clock } from '@behalf/kernel';
import { EgressError } from './errors.ts';
import type { Timeouts } from './limits.ts';

/** What an exchange ends when its time is over or its caller leaves. */
interface Running {
  abort(error: Error): void;
}

/**
 * One request with its redirects and its body: the clock and the caller's signal can end it at any time. A class and
 * not a closure, because one is made for every request of the hot path.
 */
export class Exchange {
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #caller: Cancellation | null | undefined;
  readonly #startedAt: number;
  #phase: 'headers' | 'body' | 'stream' = 'headers';
  /** When the phase began or the last byte came. */
  #since: number;
  #host = '';
  #running: Running | undefined;
  #ended = false;
  #cancel: Cancel | undefined;
  #armedFor = Infinity;
  /** Why it was ended early. */
  error: Error | undefined;

  constructor(clock: Clock, timeouts: Timeouts, caller: Cancellation | null | undefined) {
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#caller = caller;
    this.#startedAt = clock.now();
    this.#since = this.#startedAt;
    if (!caller) return;
    if (caller.aborted) {
      this.fail(abortReason(caller));
      return;
    }
    // One signal may stand for a connection that carries many requests; each takes its listener off at its end.
    if (caller instanceof EventTarget) setMaxListeners(0, caller);
    caller.addEventListener('abort', this);
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.fail(abortReason(this.#caller as Cancellation));
  }

  /** `running` goes to `host` now: the wait for its headers begins. */
  awaitHeaders(host: string, running: Running): void {
    this.#host = host;
    this.#running = running;
    this.#phase = 'headers';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** Headers have come: from now on silence is measured, and for anything but a stream the total time. */
  receive(stream: boolean): void {
    this.#phase = stream ? 'stream' : 'body';
    this.#since = this.#clock.now();
    this.#arm();
  }

  /** A chunk has come. */
  progress(): void {
    this.#since = this.#clock.now();
  }

  throwIfFailed(): void {
    if (this.error) throw this.error;
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.error = error;
    this.end();
    this.#running?.abort(error);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancel?.();
    this.#caller?.removeEventListener('abort', this);
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
    const due = Math.min(this.#stepEnd(), this.#totalEnd());
    if (this.#ended || due >= this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = due;
    this.#cancel = this.#clock.timer(Math.max(0, due - this.#clock.now()), () => this.#check());
  }

  #check(): void {
    this.#armedFor = Infinity;
    const { headersMs, idleMs, totalMs } = this.#timeouts;
    const step = this.#stepEnd();
    const total = this.#totalEnd();
    if (this.#clock.now() < Math.min(step, total)) this.#arm();
    else if (total <= step) this.#late('total_timeout', totalMs);
    else if (this.#phase === 'headers') this.#late('headers_timeout', headersMs);
    else this.#late('idle_timeout', idleMs);
  }

  #late(reason: 'headers_timeout' | 'total_timeout' | 'idle_timeout', ms: number): void {
    this.fail(new EgressError(reason, this.#host, { detail: `${ms} ms`, requestSent: true }));
  }
}
