import { GatewayError } from '../errors/gatewayError.ts';

/** Runs work a few at a time; who would have to wait behind too many is told to come back. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

export function createSemaphore({
  maxConcurrent,
  maxQueued,
}: {
  maxConcurrent: number;
  maxQueued: number;
}): Semaphore {
  let running = 0;
  const queue: (() => void)[] = [];

  return async (work) => {
    if (running >= maxConcurrent) {
      if (queue.length >= maxQueued) throw new GatewayError('RATE_LIMITED', { retryAfterMs: 1_000 });
      // Whoever finishes hands its turn on, so `running` stays as it is.
      await new Promise<void>((resolve) => queue.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
