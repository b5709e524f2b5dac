import {
  abortReason,
  LightCancellation,
  type Cancel,
  type Cancellation,
  type Clock,
  type Roster,
} from '@behalf/kernel';
import { DIALOGUE_MS } from '../askPeer.ts';
import type { Token } from '../target.ts';
import type { RequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';

/** Requests in the air; each is ended by calling it. */
export type InFlight = Roster<(error: UpstreamError) => void>;

/** What the work behind a request may know of the one who waits for it. */
export interface Waiting {
  /** Aborts when nobody waits any more. */
  readonly signal: Cancellation;
  /** The server gave a sign: the silence begins anew. */
  progressed(): void;
  /** Ends what is left of the exchange after the answer came. */
  drop(): void;
  /** Waits for a token. Meanwhile nothing is on its way, and afterwards nothing goes out for who has left. */
  forToken(asked: Promise<Token>): Promise<Token>;
  /** Waits for a person: that is no silence of the server. Not for ever: `DIALOGUE_MS` bounds the whole request. */
  forPerson<T>(asked: Promise<T>): Promise<T>;
}

type Limits = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'totalMs'>;

/**
 * Runs the work of one request. The caller gets the answer, or at once the reason why the wait is over: the own signal,
 * the silence, the total, the end of the conversation. `giveUp` tells the server. One timer serves both limits: progress
 * only moves the moment at which it looks again.
 */
export function waitFor<T>(
  parts: { readonly clock: Clock; readonly inFlight: InFlight },
  { signal, timeoutMs, totalMs }: Limits,
  giveUp: (why: string) => void,
  work: (waiting: Waiting) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  const { clock, inFlight } = parts;
  return new Promise<T>((resolve, reject) => {
    const exchange = new LightCancellation();
    let end = clock.now() + totalMs;
    const begun = clock.now();
    let silentUntil = clock.now() + timeoutMs;
    let cancelTimer: Cancel;
    let over = false;
    /** What is still missing is a token. */
    let unsent = false;
    /** People who are asked at this moment, and since when anybody is. */
    let people = 0;
    let askedAt = 0;

    function finish(): void {
      over = true;
      cancelTimer();
      inFlight.leave(seat, stop);
      signal.removeEventListener('abort', onAbort);
    }
    function stop(error: Error, why?: string): void {
      if (over) return;
      finish();
      reject(error);
      if (why !== undefined) giveUp(why);
      exchange.abort(error);
    }
    function onAbort(): void {
      stop(abortReason(signal), unsent ? undefined : 'The caller gave up');
    }
    function look(): void {
      const longest = begun + Math.max(totalMs, DIALOGUE_MS);
      const left = (people > 0 ? longest : Math.min(silentUntil, end, longest)) - clock.now();
      if (left > 0) cancelTimer = clock.timer(left, look);
      else if (unsent) stop(new UpstreamError('token_late'));
      else stop(new UpstreamError('timeout'), 'It took too long');
    }

    cancelTimer = clock.timer(Math.min(timeoutMs, totalMs), look);
    const seat = inFlight.enter(stop);
    signal.addEventListener('abort', onAbort);
    const waiting: Waiting = {
      signal: exchange,
      progressed: () => void (silentUntil = clock.now() + timeoutMs),
      drop: () => exchange.abort(abandoned()),
      async forToken(asked) {
        unsent = true;
        try {
          const token = await asked;
          if (exchange.aborted) throw abortReason(exchange);
          return token;
        } finally {
          unsent = false;
        }
      },
      async forPerson(asked) {
        if (people === 0) askedAt = clock.now();
        people += 1;
        try {
          return await asked;
        } finally {
          people -= 1;
          if (people === 0) {
            const now = clock.now();
            end += now - askedAt;
            silentUntil = now + timeoutMs;
            // The timer may look only when the longest time is over.
            cancelTimer();
            if (!over) look();
          }
        }
      },
    };
    work(waiting).then(
      (value) => {
        if (over) return;
        finish();
        resolve(value);
      },
      (error: unknown) => {
        if (over) return;
        finish();
        // UpstreamError, or what a bearer rejected with: the very error.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(error);
        exchange.abort(abandoned());
      },
    );
  });
}

function abandoned(): Error {
  return new DOMException('Nobody reads the rest', 'AbortError');
}
