import { sleep, type Clock, type Random } from '@behalf/kernel';
import type { OpenOptions, UpstreamTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

export type OpenConnection = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

const MAX_CONNECT_ATTEMPTS = 2;
const MIN_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 1_000;

/**
 * Opens a connection, with a second attempt when the first did not get through: a server that restarts is back in a
 * moment. Both share one time limit, so that a dead host costs no more than a slow one.
 */
export function createConnectWithRetry(parts: {
  open: OpenConnection;
  clock: Clock;
  random: Random;
}): OpenConnection {
  const { open, clock, random } = parts;
  return async (target, options) => {
    const deadline = clock.now() + options.initTimeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await open(target, { ...options, initTimeoutMs: deadline - clock.now() });
      } catch (error) {
        const delayMs = MIN_RETRY_DELAY_MS + random.uniform() * (MAX_RETRY_DELAY_MS - MIN_RETRY_DELAY_MS);
        if (attempt >= MAX_CONNECT_ATTEMPTS || !isRetryable(error) || clock.now() + delayMs >= deadline)
          throw error;
        await sleep(clock, delayMs, options.signal);
      }
    }
  };
}

function isRetryable(error: unknown): boolean {
  return error instanceof UpstreamError && (error.reason === 'connect_failed' || error.reason === 'ended');
}
