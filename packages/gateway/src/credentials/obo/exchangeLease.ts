import { sleep, withTimeout, type Clock, type HeldLease, type Leases, type Random } from '@behalf/kernel';
import type { Log } from '../../upstream/parts.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';

export interface ExchangeLeaseParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedTimeoutMs' | 'leaseTtlMs' | 'maxLeaseWaitMs' | 'staggerMs'>;
  /** Its reason is what those get who wait for their turn. */
  readonly closing: AbortSignal;
}

const INITIAL_POLL_MS = 25;
const MAX_POLL_MS = 400;

/**
 * One process after the other: works, or takes what another's work has left where `look` finds it. The same work twice
 * costs a request and nothing else, so neither an outage of the leases nor a holder that does not end stops anybody.
 */
export async function withExchangeLease<T>(
  parts: ExchangeLeaseParts,
  key: string,
  findResult: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, random, limits, closing } = parts;
  const deadline = clock.now() + limits.maxLeaseWaitMs;
  for (let pollMs = INITIAL_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const lease = await tryAcquire(parts, key);
    if (lease === 'unavailable') {
      await sleep(clock, random.uniform() * limits.staggerMs, closing);
      return (await findResult()) ?? work();
    }
    if (lease) return runAndRelease(parts, lease, findResult, work);
    if (clock.now() >= deadline) return work();
    await sleep(clock, pollMs, closing);
    const found = await findResult();
    if (found !== undefined) return found;
  }
}

async function runAndRelease<T>(
  { clock, limits }: ExchangeLeaseParts,
  lease: HeldLease,
  findResult: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    // Who held it before may have left what is wanted between our look and our turn.
    return (await findResult()) ?? (await work());
  } finally {
    // It lapses by itself; the outcome of the work is what counts.
    const released = lease.release().catch(() => false);
    await withTimeout(clock, limits.sharedTimeoutMs, released, () => false);
  }
}

/** Null: another's turn. */
async function tryAcquire(
  { leases, clock, log, limits }: ExchangeLeaseParts,
  key: string,
): Promise<HeldLease | null | 'unavailable'> {
  const pending = (async () => leases.acquire(`obo:${key}`, 'exchange', limits.leaseTtlMs))();
  try {
    return await withTimeout(clock, limits.sharedTimeoutMs, pending, () => {
      // Nobody uses it any more when it comes after all.
      pending.then((lease) => lease?.release()).catch(() => undefined);
      throw new Error('timed out');
    });
  } catch (error) {
    log('obo_lease_failed', { reason: error instanceof Error ? error.message : 'unknown' });
    return 'unavailable';
  }
}
