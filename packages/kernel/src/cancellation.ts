import { abortReason } from './clock.ts';

/** The part of AbortSignal that cancellable work needs. Every AbortSignal implements it. */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: CancellationListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: CancellationListener): void;
}

/** Called once, when the cancellation aborts. */
type CancellationListener = (() => void) | { handleEvent(): void };

/** Settles as the work does, or rejects with the signal's reason as soon as it aborts. The work itself continues. */
export function rejectOnAbort<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Prevents an unhandled rejection: no caller receives the result.
      work.catch(() => undefined);
      return reject(abortReason(signal));
    }
    const onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Converts to an AbortSignal for APIs that require one. Creating one is expensive: keep it off the hot path. */
export function toAbortSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  const controller = new AbortController();
  if (cancellation.aborted) controller.abort(cancellation.reason);
  else cancellation.addEventListener('abort', () => controller.abort(cancellation.reason));
  return controller.signal;
}

/**
 * A cancellation for the hot path. An AbortSignal with one listener costs about 5 us, a considerable part of a tool
 * call. This class has no measurable cost.
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

  /** Later calls have no effect. */
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
