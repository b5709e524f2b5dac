import { abortReason } from './clock.ts';

export type FlightKey = readonly (string | number | boolean | null)[];

export interface FlightOptions {
  /** Releases this caller when it aborts. Other callers of the same flight keep waiting. */
  signal?: AbortSignal | undefined;
  /** Completes the work even if all callers abort. For work that must finish once started, such as a token refresh. */
  detached?: boolean;
}

export interface SingleFlight<T> {
  /** Joins the running work of this key, or starts `work`. */
  run(key: FlightKey, work: (signal: AbortSignal) => Promise<T>, options?: FlightOptions): Promise<T>;
  /** The number of running flights. */
  readonly size: number;
  /** Resolves when no work is running, whatever its outcome. For shutdown. */
  idle(): Promise<void>;
}

interface Flight<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  detached: boolean;
  waiters: number;
}

/**
 * Runs the work of a key once at a time. Concurrent callers share its outcome, including a failure; nothing is cached
 * afterwards. The key is a tuple encoded as JSON, so ("a:b","c") and ("a","b:c") are different keys.
 */
export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();
  const inFlight = new Set<Promise<unknown>>();

  function start(id: string, work: (signal: AbortSignal) => Promise<T>, detached: boolean): Flight<T> {
    const abort = new AbortController();
    const promise = (async () => work(abort.signal))();
    const flight: Flight<T> = { promise, abort, detached, waiters: 0 };
    flights.set(id, flight);
    const completion = promise.then(
      () => onSettled(),
      () => onSettled(),
    );
    inFlight.add(completion);
    const onSettled = () => {
      inFlight.delete(completion);
      // An aborted flight may already be replaced. Keep the new one.
      if (flights.get(id) === flight) flights.delete(id);
    };
    return flight;
  }

  function removeWaiter(id: string, flight: Flight<T>): void {
    flight.waiters -= 1;
    if (flight.waiters > 0 || flight.detached) return;
    if (flights.get(id) === flight) flights.delete(id);
    flight.abort.abort(new DOMException('Canceled by all callers', 'AbortError'));
  }

  return {
    run(key, work, { signal, detached = false } = {}) {
      if (signal?.aborted) return Promise.reject(abortReason(signal));
      // JSON encodes NaN and the infinities as null, so their keys would collide.
      if (key.some((part) => typeof part === 'number' && !Number.isFinite(part))) {
        return Promise.reject(new RangeError('A single-flight key must contain finite numbers only'));
      }
      const id = JSON.stringify(key);
      const flight = flights.get(id) ?? start(id, work, detached);
      // A detached caller may join a flight that a non-detached caller started.
      if (detached) flight.detached = true;
      flight.waiters += 1;
      return new Promise<T>((resolve, reject) => {
        const onAbort = () => {
          removeWaiter(id, flight);
          reject(abortReason(signal as AbortSignal));
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        const removeAbortListener = () => signal?.removeEventListener('abort', onAbort);
        flight.promise.then(
          (value) => {
            removeAbortListener();
            resolve(value);
          },
          (error: unknown) => {
            removeAbortListener();
            // All callers receive the same error object that the work threw.
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            reject(error);
          },
        );
      });
    },
    get size() {
      return inFlight.size;
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
