import { within, type Cancel, type HeldLease } from '@behalf/kernel';
import type { VaultTools } from './vaultParts.ts';

/** Keeps processes from crowding around one credential. It excludes nobody for sure: the claim does. */
export interface Turns {
  /** Null: it is another's turn. While the leases do not answer it is everybody's. */
  take(id: string): Promise<{ end(): Promise<void> } | null>;
  /** What is still held goes back. */
  endAll(): Promise<void>;
}

export function createTurns({
  leases,
  localClock,
  log,
  timings,
}: Pick<VaultTools, 'leases' | 'localClock' | 'log' | 'timings'>): Turns {
  const held = new Set<{ end(): Promise<void> }>();

  async function acquire(id: string): Promise<HeldLease | null | 'unavailable'> {
    const asked = (async () => leases.acquire(`cred:${id}`, 'refresh', timings.leaseMs))();
    try {
      return await within(localClock, timings.sharedMs, asked, () => {
        // Nobody uses it any more when it comes after all.
        asked.then((lease) => lease?.release()).catch(() => undefined);
        throw new Error('no answer in time');
      });
    } catch (error) {
      log('vault_lease_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return 'unavailable';
    }
  }

  function keep(lease: HeldLease): Cancel {
    const endsAt = localClock.now() + timings.holdMs;
    let cancel: Cancel = () => undefined;
    const beat = () => {
      if (localClock.now() >= endsAt) return;
      lease.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, beat);
    };
    cancel = localClock.timer(timings.leaseRenewMs, beat);
    return () => cancel();
  }

  return {
    async take(id) {
      const lease = await acquire(id);
      if (lease === null) return null;
      if (lease === 'unavailable') return { end: async () => undefined };
      const stop = keep(lease);
      const turn = {
        async end() {
          stop();
          if (!held.delete(turn)) return;
          // It lapses by itself; the outcome is what counts.
          const released = lease.release().catch(() => false);
          await within(localClock, timings.sharedMs, released, () => false);
        },
      };
      held.add(turn);
      return turn;
    },
    async endAll() {
      await Promise.all([...held].map((turn) => turn.end()));
    },
  };
}
