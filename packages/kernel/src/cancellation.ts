import { abortReason } from './clock.ts';

/** What is read of an abort signal by who can be stopped. Every AbortSignal is one. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: CancellationListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: CancellationListener): void;
}

/** Told once, when it aborts. */
type CancellationListener = (() => void) | { handleEvent(): void };

/** Settles as the work does, or with the signal's reason as soon as it aborts. The work goes on. */
export function rejectOnAbort<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Nobody hears how it ends.
      work.catch(() => undefined);
      return reject(abortReason(signal));
    }
    const onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** For who needs the platform's own signal. Off the hot path: this is what costs. */
export function toAbortSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  const controller = new AbortController();
  if (cancellation.aborted) controller.abort(cancellation.reason);
  else cancellation.addEventListener('abort', () => controller.abort(cancellation.reason));
  return controller.signal;
}

/**
 * A cancellation between two pieces of code that know each other. An AbortSignal with one listener costs five
 * microseconds, which is a good part of a tool call; this one costs nothing to speak of.
 */
export class LightCancellation implements Cancellation {
  aborted = false;
  reason: unknown = undefined;
  #listener: CancellationListener | undefined;
  #others: Set<CancellationListener> | undefined;

  addEventListener(_type: 'abort', listener: CancellationListener): void {
    if (this.#listener === undefined && !this.#others?.has(listener)) this.#listener = listener;
    else if (this.#listener !== listener) (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: 'abort', listener: CancellationListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    this.#others?.delete(listener);
  }

  /** Once; later calls change nothing. */
  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = [...(this.#listener ? [this.#listener] : []), ...(this.#others ?? [])];
    this.#listener = undefined;
    this.#others = undefined;
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}
