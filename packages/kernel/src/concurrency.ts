import { rejectOnAbort, type Cancellation } from './cancellation.ts';

/** Thrown when a semaphore already has its maximum number of waiting callers. */
export class SemaphoreFull extends Error {
  override readonly name = 'SemaphoreFull';
}

/** Limits how many callers run at once. Further callers wait in order of arrival, up to `maxWaiting` of them. */
export class Semaphore {
  readonly #maxConcurrent: number;
  readonly #maxWaiting: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(maxConcurrent: number, { maxWaiting = Infinity }: { maxWaiting?: number } = {}) {
    this.#maxConcurrent = maxConcurrent;
    this.#maxWaiting = maxWaiting;
  }

  /** Rejects with `SemaphoreFull`, without running `work`, if too many callers wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxConcurrent) this.#running += 1;
    else {
      if (this.#queue.length >= this.#maxWaiting) throw new SemaphoreFull();
      // The caller that finishes passes its permit on, so `#running` does not change here.
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/** Serializes work per key, in order of arrival. Work under different keys runs concurrently. */
export class KeyedMutex {
  /** Per key, settles when the last caller in the queue is done. */
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `work` after all earlier work under this key. If the signal aborts while the caller waits, the call rejects
   * and `work` never runs; callers behind it keep waiting for the callers in front of it.
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: Cancellation): Promise<T> {
    const previous = this.#tails.get(key) ?? Promise.resolve();
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const tail = previous.then(() => finished);
    this.#tails.set(key, tail);
    try {
      await (signal ? rejectOnAbort(previous, signal) : previous);
      return await work();
    } finally {
      finish();
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}

/**
 * Wakes one loop. `set` completes the pending `wait`; if nothing waits, the next `wait` completes immediately. Several
 * calls of `set` between two waits count as one.
 */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    if (!this.#wake) {
      this.#isSet = true;
      return;
    }
    this.#wake();
    this.#wake = undefined;
  }

  /** At most one caller waits at a time. */
  wait(): Promise<void> {
    if (this.#isSet) {
      this.#isSet = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

/**
 * Returns a function that runs `work` at most once at a time. Calls during a run share one further run, which starts
 * after the current one: it sees everything that happened before any of those calls.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    const run = work().finally(() => {
      if (current === run) current = null;
    });
    current = run;
    return run;
  }

  return () => {
    // A waiting run comes first: the current one may have settled while the waiting one has not started yet.
    if (next) return next;
    if (!current) return start();
    next = current
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}
