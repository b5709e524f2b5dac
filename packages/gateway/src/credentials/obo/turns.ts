import { sleep, within, type Clock, type HeldLease, type Leases, type Random } from '@behalf/kernel';
import type { Log } from '../../upstream/parts.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

export interface TurnParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedMs' | 'leaseMs' | 'turnMs' | 'staggerMs'>;
  /** Its reason is what those get who wait for their turn. */
  readonly closing: AbortSignal;
}

const FIRST_STEP_MS = 25;
const LONGEST_STEP_MS = 400;

/**
 * One process after the other: works, or takes what another's work has left where `look` finds it. The same work twice
 * costs a request and nothing else, so neither an outage of the leases nor a holder that does not end stops anybody.
 */
export async function inTurn<T>(
  parts: TurnParts,
  key: string,
  look: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, random, limits, closing } = parts;
  const giveUpAt = clock.now() + limits.turnMs;
  for (let step = FIRST_STEP_MS; ; step = Math.min(step * 2, LONGEST_STEP_MS)) {
    const lease = await acquire(parts, key);
    if (lease === 'unavailable') {
      await sleep(clock, random.uniform() * limits.staggerMs, closing);
      return (await look()) ?? work();
    }
    if (lease) return workAndRelease(parts, lease, look, work);
    if (clock.now() >= giveUpAt) return work();
    await sleep(clock, step, closing);
    const found = await look();
    if (found !== undefined) return found;
  }
}

async function workAndRelease<T>(
  { clock, limits }: TurnParts,
  lease: HeldLease,
  look: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    // Who held it before may have left what is wanted between our look and our turn.
    return (await look()) ?? (await work());
  } finally {
    // It lapses by itself; the outcome of the work is what counts.
    const released = lease.release().catch(() => false);
    await within(clock, limits.sharedMs, released, () => false);
  }
}

/** Null: another's turn. */
async function acquire(
  { leases, clock, log, limits }: TurnParts,
  key: string,
): Promise<HeldLease | null | 'unavailable'> {
  const asked = (async () => leases.acquire(`obo:${key}`, 'exchange', limits.leaseMs))();
  try {
    return await within(clock, limits.sharedMs, asked, () => {
      // Nobody uses it any more when it comes after all.
      asked.then((lease) => lease?.release()).catch(() => undefined);
      throw new Error('no answer in time');
    });
  } catch (error) {
    log('obo_lease_failed', { reason: error instanceof Error ? error.message : 'unknown' });
    return 'unavailable';
  }
}
