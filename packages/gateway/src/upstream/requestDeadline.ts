import {
  ActiveSet,
  type Cancel,
  type Cancellation,
  type Clock,
  LightCancellation,
  abortReason,
} from '@behalf/kernel';
import { MAX_DIALOGUE_MS } from './dialogue.ts';
import type { WireToken } from './target.ts';
import type { UpstreamRequestOptions } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

/** Requests in progress. Calling an entry fails the request. */
type InFlightRequests = ActiveSet<(error: UpstreamError) => void>;

/** Controls the deadline of one request. */
export interface RequestDeadline {
  /** Aborts when the caller no longer waits. */
  readonly signal: Cancellation;
  /**
   * Nothing was sent yet, because the token is still being obtained. A timeout is then `token_timeout`, and the server
   * receives no cancellation.
   */
  isWaitingForToken: boolean;
  /** The server made progress. Restarts `timeoutMs`. */
  resetIdleTimeout(): void;
  /** Ends the rest of the exchange after the response was received. */
  abortExchange(): void;
  /** Waits for a token. Rejects if the caller aborts during the wait, so that nothing is sent. */
  waitForToken(pendingToken: Promise<WireToken>): Promise<WireToken>;
  /** Pauses the timeouts while the caller waits for a user. `MAX_DIALOGUE_MS` still limits the whole request. */
  withPausedTimeout<T>(userResponse: Promise<T>): Promise<T>;
}

/**
 * Runs a request within its limits: silence (`timeoutMs`), total time, the caller's signal, and the close of the
 * upstream. `onCancel` cancels the request at the server. One timer serves both time limits, and progress only moves
 * the time of the next check: a server that reports progress often causes no timers.
 */
export function withRequestDeadline<T>(
  parts: { readonly clock: Clock; readonly inFlight: InFlightRequests; readonly keepAlive?: boolean },
  { signal, timeoutMs, totalMs }: Pick<UpstreamRequestOptions, 'signal' | 'timeoutMs' | 'totalMs'>,
  onCancel: (reason: string) => void,
  work: (deadline: RequestDeadline) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  const { clock, inFlight, keepAlive } = parts;
  return new Promise<T>((resolve, reject) => {
    const exchange = new LightCancellation();
    const startedAt = clock.now();
    let totalDeadline = startedAt + totalMs;
    let idleDeadline = startedAt + timeoutMs;
    let cancelTimer: Cancel = () => undefined;
    let isSettled = false;
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
      fail(abortReason(signal), deadline.isWaitingForToken ? undefined : 'Canceled by the caller');
    }
    function checkDeadline(): void {
      const maxDeadline = startedAt + Math.max(totalMs, MAX_DIALOGUE_MS);
      const remainingMs =
        (pendingPrompts > 0 ? maxDeadline : Math.min(idleDeadline, totalDeadline, maxDeadline)) - clock.now();
      if (remainingMs > 0) startTimer(remainingMs);
      else if (deadline.isWaitingForToken) fail(new UpstreamError('token_timeout'));
      else fail(new UpstreamError('timeout'), 'Request timed out');
    }
    function startTimer(ms: number): void {
      // A subscription has no time limit and must not keep the process alive.
      if (ms === Infinity) return;
      cancelTimer = keepAlive
        ? clock.timer(ms, checkDeadline, { keepAlive })
        : clock.timer(ms, checkDeadline);
    }

    const deadline: RequestDeadline = {
      signal: exchange,
      isWaitingForToken: false,
      resetIdleTimeout: () => void (idleDeadline = clock.now() + timeoutMs),
      abortExchange: () => exchange.abort(createAbandonedError()),
      async waitForToken(pendingToken) {
        deadline.isWaitingForToken = true;
        try {
          const token = await pendingToken;
          if (exchange.aborted) throw abortReason(exchange);
          return token;
        } finally {
          deadline.isWaitingForToken = false;
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
            // The timer may be set to the maximum deadline.
            cancelTimer();
            if (!isSettled) checkDeadline();
          }
        }
      },
    };
    startTimer(Math.min(timeoutMs, totalMs));
    const entry = inFlight.add(fail);
    signal.addEventListener('abort', onAbort);
    work(deadline).then(
      (value) => {
        if (isSettled) return;
        finish();
        resolve(value);
      },
      (error: unknown) => {
        if (isSettled) return;
        finish();
        // An UpstreamError, or the original error of a bearer.
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

/** Whether an upstream is closed, its requests in progress, and its close listeners. */
export function createCloseState() {
  const inFlight: InFlightRequests = new ActiveSet();
  let listeners: (() => void)[] = [];
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    inFlight,
    /** Calls the listener once on close, at once if already closed. */
    onClose(listener: () => void): void {
      if (isClosed) listener();
      else listeners.push(listener);
    },
    /** Returns false if it was closed already. */
    markClosed(): boolean {
      if (isClosed) return false;
      isClosed = true;
      const pending = listeners;
      listeners = [];
      for (const listener of pending) {
        try {
          listener();
        } catch {
          // The other listeners must run as well.
        }
      }
      return true;
    },
    /** Fails requests in progress. The server may have received them, so they must not count as not sent. */
    abortInFlight(): void {
      for (const fail of inFlight) fail(new UpstreamError('reset'));
    },
  };
}
