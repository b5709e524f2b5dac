import type { Cancellation } from './cancellation.ts';

/** Stops a timer. Calling it twice, or after the timer fired, does nothing. */
export type Cancel = () => void;

/** Time as a parameter: the process passes `systemClock`, tests pass a fake clock and advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Runs `fn` once after `ms`. By default the timer does not keep the process alive. Pass `keepAlive` if a caller waits
   * for it.
   */
  timer(ms: number, fn: () => void, options?: { keepAlive?: boolean }): Cancel;
}

/** Node fires longer timers immediately: it stores the delay as a 32-bit integer (about 25 days). */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, fn, { keepAlive = false } = {}) {
    let handle: NodeJS.Timeout;
    const schedule = (remaining: number) => {
      const step = Math.min(remaining, MAX_TIMEOUT_MS);
      handle = setTimeout(() => (remaining > step ? schedule(remaining - step) : fn()), step);
      if (!keepAlive) handle.unref();
    };
    schedule(ms);
    return () => clearTimeout(handle);
  },
};

/**
 * Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. The timer keeps the process alive: a
 * process that only waits for a lock must not exit.
 */
export function sleep(clock: Clock, ms: number, signal?: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal));
    const onAbort = () => {
      cancel();
      reject(abortReason(signal as Cancellation));
    };
    const finish = () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    const cancel = clock.timer(ms, finish, { keepAlive: true });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The abort reason as an Error. The platform allows any value as a reason. */
export function abortReason(signal: Pick<Cancellation, 'reason'>): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException('This operation was aborted', 'AbortError');
}

/** Settles as `work` does, or after `ms` with the result of `onTimeout`, which may throw. */
export async function withTimeout<T, L>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  onTimeout: () => L,
): Promise<T | L> {
  let cancel: Cancel = () => undefined;
  const deadline = new Promise<L>((resolve, reject) => {
    const expire = () => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    cancel = clock.timer(ms, expire, { keepAlive: true });
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    cancel();
  }
}
