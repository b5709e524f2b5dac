import { abortReason, unlessAborted, within, type Cancellation, type HeldLease } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import type { Notices } from './notices.ts';
import type { VaultTools } from './vaultParts.ts';

export interface ExclusiveParts extends Pick<VaultTools, 'leases' | 'localClock' | 'log' | 'timings'> {
  readonly notices: Notices;
}

export type Exclusively = <T>(key: CredentialKey, signal: Cancellation, work: () => Promise<T>) => Promise<T>;

/** One user of a credential at a time, in all processes: first in line here, then by a lease that lives as long as its holder. */
export function createExclusively({
  leases,
  localClock,
  log,
  timings,
  notices,
}: ExclusiveParts): Exclusively {
  /** The last in line, by credential. */
  const lines = new Map<string, Promise<void>>();

  const busy = () => new GatewayError('UPSTREAM_AUTH_UNAVAILABLE', { retryAfterMs: timings.backoffMs });

  async function acquire(id: string, endsAt: number, signal: Cancellation): Promise<HeldLease | null> {
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
      if (localClock.now() >= endsAt) throw busy();
      await notices.heard(`use:${id}`, timings.pollMs);
    }
  }

  async function hold<T>(lease: HeldLease | null, work: () => Promise<T>): Promise<T> {
    let cancel = () => {};
    const beat = () => {
      lease?.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, beat);
    };
    if (lease) cancel = localClock.timer(timings.leaseRenewMs, beat);
    try {
      return await work();
    } finally {
      cancel();
      await lease?.release().catch(() => false);
    }
  }

  return async (key, signal, work) => {
    const id = credentialId(key);
    const endsAt = localClock.now() + timings.waitMs;
    const before = lines.get(id) ?? Promise.resolve();
    let leave = () => {};
    const mine = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const line = before.then(() => mine);
    lines.set(id, line);
    try {
      const patience = within(localClock, timings.waitMs, before, () => {
        throw busy();
      });
      await unlessAborted(patience, signal);
      return await hold(await acquire(id, endsAt, signal), work);
    } finally {
      leave();
      // Who gave up may leave somebody behind who is still at it: the line ends with the last of them.
      void line.then(() => {
        if (lines.get(id) === line) lines.delete(id);
      });
    }
  };
}
