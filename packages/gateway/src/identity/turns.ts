import { GatewayError } from '../errors/gatewayError.ts';

/** Runs work a few at a time; who would have to wait behind too many is told to come back. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns({ atOnce, waiting }: { atOnce: number; waiting: number }): Turns {
  let running = 0;
  const queue: (() => void)[] = [];

  return async (work) => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new GatewayError('RATE_LIMITED', { retryAfterMs: 1_000 });
      // Whoever finishes hands its turn on, so `running` stays as it is.
      await new Promise<void>((turn) => queue.push(turn));
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
