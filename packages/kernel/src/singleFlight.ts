import { abortReason } from './clock.ts';

export type FlightKey = readonly (string | number | boolean | null)[];

export interface FlightOptions {
  /** This caller's patience: aborting it releases this caller alone. */
  signal?: AbortSignal | undefined;
  /** Work that must finish once begun (an exchange, a refresh): no waiter's leaving aborts it. */
  detached?: boolean;
}

export interface SingleFlight<T> {
  /** Joins the flight of this key, or starts `work`. */
  run(key: FlightKey, work: (signal: AbortSignal) => Promise<T>, options?: FlightOptions): Promise<T>;
  /** How many flights are in the air: what a shutdown waits for. */
  readonly size: number;
  /** Resolves when every flight in the air has landed, whatever its outcome. */
  idle(): Promise<void>;
}

interface Flight<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  detached: boolean;
  waiters: number;
}

/**
 * One piece of work per key at a time; everyone who asks meanwhile shares its outcome. The key is a tuple encoded as
 * JSON, so ("a:b","c") and ("a","b:c") never meet. A failure is shared by those who waited and kept for nobody.
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
      // An abandoned flight was replaced long ago: it must not evict its successor.
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
      // JSON writes NaN and the infinities as null: they would meet each other.
      if (key.some((part) => typeof part === 'number' && !Number.isFinite(part))) {
        return Promise.reject(new RangeError('A single-flight key must contain finite numbers only'));
      }
      const id = JSON.stringify(key);
      const flight = flights.get(id) ?? start(id, work, detached);
      // Who needs the work finished may have joined somebody who does not.
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
            // Rejecting with the very error the work threw is the point.
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
