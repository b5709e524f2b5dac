import { sleep, type Clock, type Random } from '@behalf/kernel';
import type { OpenOptions, UpstreamTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

export type Open = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

const ATTEMPTS = 2;
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Opens a connection, with a second attempt when the first did not get through: a server that restarts is back in a
 * moment. Both share one time limit, so that a dead host costs no more than a slow one.
 */
export function createConnect(parts: { open: Open; clock: Clock; random: Random }): Open {
  const { open, clock, random } = parts;
  return async (target, options) => {
    const end = clock.now() + options.initTimeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await open(target, { ...options, initTimeoutMs: end - clock.now() });
      } catch (error) {
        const pause = SHORTEST_PAUSE_MS + random.uniform() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
        if (attempt >= ATTEMPTS || !didNotGetThrough(error) || clock.now() + pause >= end) throw error;
        await sleep(clock, pause, options.signal);
      }
    }
  };
}

function didNotGetThrough(error: unknown): boolean {
  return error instanceof UpstreamError && (error.reason === 'connect_failed' || error.reason === 'ended');
}
