import {
  ActiveSet,
  type Cancel,
  type Cancellation,
  type Clock,
  LightCancellation,
  abortReason,
} from '@behalf/kernel';
import { MAX_DIALOGUE_MS } from '../dialogue.ts';
import type { WireToken } from '../target.ts';
import type { UpstreamRequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';

/** Requests in the air; each is ended by calling it. */
export type InFlightRequests = ActiveSet<(error: UpstreamError) => void>;

/** What the work behind a request may know of the one who waits for it. */
export interface RequestDeadline {
  /** Aborts when nobody waits any more. */
  readonly signal: Cancellation;
  /** The server gave a sign: the silence begins anew. */
  resetIdleTimeout(): void;
  /** Ends what is left of the exchange after the answer came. */
  abortExchange(): void;
  /** Waits for a token. Meanwhile nothing is on its way, and afterwards nothing goes out for who has left. */
  waitForToken(pendingToken: Promise<WireToken>): Promise<WireToken>;
  /** Waits for a person: that is no silence of the server. Not for ever: `DIALOGUE_MS` bounds the whole request. */
  withPausedTimeout<T>(userResponse: Promise<T>): Promise<T>;
}

type DeadlineLimits = Pick<UpstreamRequestOptions, 'signal' | 'timeoutMs' | 'totalMs'>;

/**
 * Runs the work of one request. The caller gets the answer, or at once the reason why the wait is over: the own signal,
 * the silence, the total, the end of the conversation. `giveUp` tells the server. One timer serves both limits: progress
 * only moves the moment at which it looks again.
 */
export function withRequestDeadline<T>(
  parts: { readonly clock: Clock; readonly inFlight: InFlightRequests },
  { signal, timeoutMs, totalMs }: DeadlineLimits,
  onCancel: (reason: string) => void,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  const { clock, inFlight } = parts;
  return new Promise<T>((resolve, reject) => {
    const exchange = new LightCancellation();
    let totalDeadline = clock.now() + totalMs;
    const startedAt = clock.now();
    let idleDeadline = clock.now() + timeoutMs;
    let cancelTimer: Cancel;
    let isSettled = false;
    /** What is still missing is a token. */
    let isWaitingForToken = false;
    /** People who are asked at this moment, and since when anybody is. */
    let pendingPrompts = 0;
    let promptedAt = 0;

    function finish(): void {
      isSettled = true;
      cancelTimer();
      inFlight.remove(entry, fail);
      signal.removeEventListener('abort', onAbort);
    }
    function fail(error: Error, reason?: string): void {
      if (isSettled) return;
      finish();
      reject(error);
      if (reason !== undefined) onCancel(reason);
      exchange.abort(error);
    }
    function onAbort(): void {
      fail(abortReason(signal), isWaitingForToken ? undefined : 'Canceled by the caller');
    }
    function checkDeadline(): void {
      const maxDeadline = startedAt + Math.max(totalMs, MAX_DIALOGUE_MS);
      const remainingMs =
        (pendingPrompts > 0 ? maxDeadline : Math.min(idleDeadline, totalDeadline, maxDeadline)) - clock.now();
      if (remainingMs > 0) cancelTimer = clock.timer(remainingMs, checkDeadline);
      else if (isWaitingForToken) fail(new UpstreamError('token_timeout'));
      else fail(new UpstreamError('timeout'), 'Request timed out');
    }

    cancelTimer = clock.timer(Math.min(timeoutMs, totalMs), checkDeadline);
    const entry = inFlight.add(fail);
    signal.addEventListener('abort', onAbort);
    const control: RequestDeadline = {
      signal: exchange,
      resetIdleTimeout: () => void (idleDeadline = clock.now() + timeoutMs),
      abortExchange: () => exchange.abort(createAbandonedError()),
      async waitForToken(pendingToken) {
        isWaitingForToken = true;
        try {
          const token = await pendingToken;
          if (exchange.aborted) throw abortReason(exchange);
          return token;
        } finally {
          isWaitingForToken = false;
        }
      },
      async withPausedTimeout(userResponse) {
        if (pendingPrompts === 0) promptedAt = clock.now();
        pendingPrompts += 1;
        try {
          return await userResponse;
        } finally {
          pendingPrompts -= 1;
          if (pendingPrompts === 0) {
            const now = clock.now();
            totalDeadline += now - promptedAt;
            idleDeadline = now + timeoutMs;
            // The timer may look only when the longest time is over.
            cancelTimer();
            if (!isSettled) checkDeadline();
          }
        }
      },
    };
    work(control).then(
      (value) => {
        if (isSettled) return;
        finish();
        resolve(value);
      },
      (error: unknown) => {
        if (isSettled) return;
        finish();
        // UpstreamError, or what a bearer rejected with: the very error.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(error);
        exchange.abort(createAbandonedError());
      },
    );
  });
}

function createAbandonedError(): Error {
  return new DOMException('The rest of the response is not needed', 'AbortError');
}

/** Whether a conversation goes on, and who wants to know when it does not. */
interface CloseState {
  readonly isClosed: boolean;
  readonly inFlight: InFlightRequests;
  onClose(listener: () => void): void;
  /** Ends it once: true for the one who did. */
  markClosed(): boolean;
}

export function createCloseState(): CloseState {
  const inFlight: InFlightRequests = new ActiveSet();
  let listeners: (() => void)[] = [];
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    inFlight,
    onClose(listener) {
      if (isClosed) listener();
      else listeners.push(listener);
    },
    markClosed() {
      if (isClosed) return false;
      isClosed = true;
      const pending = listeners;
      listeners = [];
      for (const listener of pending) {
        try {
          listener();
        } catch {
          // The others must know all the same.
        }
      }
      return true;
    },
  };
}

/** Requests in the air may have reached the server: nobody may take them for not sent. */
export function abortInFlight({ inFlight }: CloseState): void {
  for (const stop of inFlight) stop(new UpstreamError('reset'));
}
