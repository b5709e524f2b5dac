import { abortReason, rejectOnAbort, withTimeout, type Cancellation, type HeldLease } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import type { ChangeBus } from './changeBus.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

export interface ExclusiveUseParts extends Pick<
  ResolvedVaultParts,
  'leases' | 'localClock' | 'log' | 'timings'
> {
  readonly changeBus: ChangeBus;
}

export type WithExclusiveUse = <T>(
  key: CredentialKey,
  signal: Cancellation,
  work: () => Promise<T>,
) => Promise<T>;

/** One user of a credential at a time, in all processes: first in line here, then by a lease that lives as long as its holder. */
export function createWithExclusiveUse({
  leases,
  localClock,
  log,
  timings,
  changeBus,
}: ExclusiveUseParts): WithExclusiveUse {
  /** The last in line, by credential. */
  const queues = new Map<string, Promise<void>>();

  const busyError = () => new GatewayError('UPSTREAM_AUTH_UNAVAILABLE', { retryAfterMs: timings.backoffMs });

  async function acquire(id: string, deadline: number, signal: Cancellation): Promise<HeldLease | null> {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      let lease: HeldLease | null;
      try {
        lease = await leases.acquire(`cred-use:${id}`, 'refresh', timings.leaseMs);
      } catch (error) {
        // One at a time in this process is what can be had; a server that minds answers with a 401.
        log('vault_lease_failed', { reason: error instanceof Error ? error.name : 'unknown' });
        return null;
      }
      if (lease) return lease;
      if (localClock.now() >= deadline) throw busyError();
      await changeBus.waitForChange(`use:${id}`, timings.pollMs);
    }
  }

  async function runWithLease<T>(lease: HeldLease | null, work: () => Promise<T>): Promise<T> {
    let cancel = () => {};
    const sendHeartbeat = () => {
      lease?.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    };
    if (lease) cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    try {
      return await work();
    } finally {
      cancel();
      await lease?.release().catch(() => false);
    }
  }

  return async (key, signal, work) => {
    const id = credentialId(key);
    const deadline = localClock.now() + timings.waitMs;
    const previous = queues.get(id) ?? Promise.resolve();
    let finish = () => {};
    const current = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const tail = previous.then(() => current);
    queues.set(id, tail);
    try {
      const waitForPrevious = withTimeout(localClock, timings.waitMs, previous, () => {
        throw busyError();
      });
      await rejectOnAbort(waitForPrevious, signal);
      return await runWithLease(await acquire(id, deadline, signal), work);
    } finally {
      finish();
      // Who gave up may leave somebody behind who is still at it: the line ends with the last of them.
      void tail.then(() => {
        if (queues.get(id) === tail) queues.delete(id);
      });
    }
  };
}
