import { setMaxListeners } from 'node:events';
import { abortReason, type Cancel, type Cancellation, type Clock } from '@behalf/kernel';
import { EgressError } from './errors.ts';
import type { Timeouts } from './limits.ts';

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
