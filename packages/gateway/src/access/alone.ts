import { sleep, type Clock, type Leases } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';

export interface AloneParts {
  readonly leases: Leases;
  readonly clock: Clock;
}

const HOLD_MS = 10_000;
const WAIT_MS = 5_000;
const RETRY_MS = 50;

/**
 * Runs work while nobody else in any process runs work of the same key: what is looked at stays true until it is acted
 * upon. `stillAlone` is asked right before writing; it throws when the work took so long that somebody else may have begun.
 */
export async function alone<T>(
  { leases, clock }: AloneParts,
  key: readonly [subject: string, ...parts: string[]],
  work: (stillAlone: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const giveUpAt = clock.now() + WAIT_MS;
  const name = JSON.stringify(key);
  let lease = await leases.acquire(name, 'maintenance', HOLD_MS);
  while (!lease) {
    if (clock.now() >= giveUpAt) throw busy();
    await sleep(clock, RETRY_MS);
    lease = await leases.acquire(name, 'maintenance', HOLD_MS);
  }
  const held = lease;
  try {
    return await work(async () => {
      if (!(await held.extend(HOLD_MS))) throw busy();
    });
  } finally {
    // It lapses by itself; the outcome of the work is what counts.
    await held.release().catch(() => false);
  }
}

function busy(): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', {
    detail: 'Another change of the same kind is under way. Try again.',
    retryAfterMs: 1_000,
  });
}

/** Who has which role in a tenant, and which roles there are to have. */
export function membersKey(tenant: string): [string, string] {
  return ['admins', tenant];
}
