import { type Clock, type Leases, sleep } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';

export interface WithLeaseParts {
  readonly leases: Leases;
  readonly clock: Clock;
}

const LEASE_TTL_MS = 10_000;
const MAX_WAIT_MS = 5_000;
const RETRY_INTERVAL_MS = 50;

/**
 * Runs work while nobody else in any process runs work of the same key: what is looked at stays true until it is acted
 * upon. `assertLeaseHeld` is asked right before writing; it throws when the work took so long that somebody else may have begun.
 */
export async function withLease<T>(
  { leases, clock }: WithLeaseParts,
  key: readonly [subject: string, ...parts: string[]],
  work: (assertLeaseHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const deadline = clock.now() + MAX_WAIT_MS;
  const leaseKey = JSON.stringify(key);
  let lease = await leases.acquire(leaseKey, 'maintenance', LEASE_TTL_MS);
  while (!lease) {
    if (clock.now() >= deadline) throw createBusyError();
    await sleep(clock, RETRY_INTERVAL_MS);
    lease = await leases.acquire(leaseKey, 'maintenance', LEASE_TTL_MS);
  }
  const acquired = lease;
  try {
    return await work(async () => {
      if (!(await acquired.extend(LEASE_TTL_MS))) throw createBusyError();
    });
  } finally {
    // It lapses by itself; the outcome of the work is what counts.
    await acquired.release().catch(() => false);
  }
}

function createBusyError(): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', {
    detail: 'Another change of this kind is in progress. Try again.',
    retryAfterMs: 1_000,
  });
}

/** Who has which role in a tenant, and which roles there are to have. */
export function roleLeaseKey(tenant: string): [string, string] {
  return ['admins', tenant];
}
