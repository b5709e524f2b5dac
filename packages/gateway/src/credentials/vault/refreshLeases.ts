import { withTimeout, type Cancel, type HeldLease } from '@behalf/kernel';
import type { ResolvedVaultParts } from './vaultParts.ts';

/** Keeps processes from crowding around one credential. It excludes nobody for sure: the claim does. */
export interface RefreshLeases {
  /** Null: it is another's turn. While the leases do not answer it is everybody's. */
  tryAcquire(id: string): Promise<{ release(): Promise<void> } | null>;
  /** What is still held goes back. */
  releaseAll(): Promise<void>;
}

export function createRefreshLeases({
  leases,
  localClock,
  log,
  timings,
}: Pick<ResolvedVaultParts, 'leases' | 'localClock' | 'log' | 'timings'>): RefreshLeases {
  const activeLeases = new Set<{ release(): Promise<void> }>();

  async function acquire(id: string): Promise<HeldLease | null | 'unavailable'> {
    const acquiring = (async () => leases.acquire(`cred:${id}`, 'refresh', timings.leaseMs))();
    try {
      return await withTimeout(localClock, timings.storeTimeoutMs, acquiring, () => {
        // Nobody uses it any more when it comes after all.
        acquiring.then((lease) => lease?.release()).catch(() => undefined);
        throw new Error('the request timed out');
      });
    } catch (error) {
      log('vault_lease_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return 'unavailable';
    }
  }

  function startHeartbeat(lease: HeldLease): Cancel {
    const deadline = localClock.now() + timings.holdMs;
    let cancel: Cancel = () => undefined;
    const sendHeartbeat = () => {
      if (localClock.now() >= deadline) return;
      lease.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    };
    cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    return () => cancel();
  }

  return {
    async tryAcquire(id) {
      const lease = await acquire(id);
      if (lease === null) return null;
      if (lease === 'unavailable') return { release: async () => undefined };
      const stopHeartbeat = startHeartbeat(lease);
      const activeLease = {
        async release() {
          stopHeartbeat();
          if (!activeLeases.delete(activeLease)) return;
          // It lapses by itself; the outcome is what counts.
          const released = lease.release().catch(() => false);
          await withTimeout(localClock, timings.storeTimeoutMs, released, () => false);
        },
      };
      activeLeases.add(activeLease);
      return activeLease;
    },
    async releaseAll() {
      await Promise.all([...activeLeases].map((activeLease) => activeLease.release()));
    },
  };
}
