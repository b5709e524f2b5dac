import { abortReason, createSingleFlight, toAbortSignal } from '@behalf/kernel';
import type { ExchangeJob } from './exchanger.ts';

/** One exchange under way, as those know it who must make it forget. */
export interface InFlightExchange {
  readonly key: string;
  readonly holder: ExchangeJob['holder'];
  /** Its holder was evicted since it began: it serves who waits already, and is neither kept nor joined. */
  isStale: boolean;
  /** What servers refused since it began. */
  readonly refusedTokens: Set<string>;
}

export type ExchangeMode = 'cached' | 'forced';

export interface InFlightExchanges<T> {
  /** Joins what is under way in this mode, or begins. Leaving never stops it. */
  join(mode: ExchangeMode, job: ExchangeJob, work: (flight: InFlightExchange) => Promise<T>): Promise<T>;
  all(): Iterable<InFlightExchange>;
  idle(): Promise<void>;
}

export function createInFlightExchanges<T>(): InFlightExchanges<T> {
  const flights = createSingleFlight<T>();
  /** The one that may be joined, by mode and key. */
  const joinable = new Map<string, InFlightExchange & { readonly flightId: number }>();
  /** Also those that nobody may join any more. */
  const running = new Set<InFlightExchange>();
  let lastFlightId = 0;

  return {
    join(mode, { key, holder, signal }, work) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      const flightKey = JSON.stringify([mode, key]);
      let flight = joinable.get(flightKey);
      if (!flight || flight.isStale) {
        flight = { key, holder, isStale: false, refusedTokens: new Set(), flightId: (lastFlightId += 1) };
        joinable.set(flightKey, flight);
        running.add(flight);
      }
      const started = flight;
      const runFlight = async () => {
        try {
          return await work(started);
        } finally {
          running.delete(started);
          // A stale one was replaced: it must not take its successor away.
          if (joinable.get(flightKey) === started) joinable.delete(flightKey);
        }
      };
      // The number keeps who comes after an eviction out of a flight that began before it.
      return flights.run([started.flightId], runFlight, { signal: toAbortSignal(signal), detached: true });
    },
    all: () => running,
    idle: () => flights.idle(),
  };
}
