/** Why a lease is held. Only `teardown` tells others to give up; the rest means wait. */
/** The work that a lease protects. A replica that waits for it can read the purpose. */
export type LeasePurpose = 'refresh' | 'registration' | 'exchange' | 'maintenance' | 'answer' | 'run';

export interface HeldLease {
  readonly key: string;
  /** 128 random bits: only who knows it may extend or release. */
  readonly owner: string;
  readonly purpose: LeasePurpose;
  /** False when the lease was lost meanwhile: the holder must stop what it guards. */
  extend(ttlMs: number): Promise<boolean>;
  /** True when it was still ours. Releasing a lost lease harms nobody. */
  release(): Promise<boolean>;
}

/**
 * Contention control between processes: at most one holder per key until the TTL passes. A lease is not a fence; what
 * must never happen twice is also guarded by a compare-and-set in the record itself.
 */
export interface Leases {
  /** Null when somebody else holds it. */
  acquire(key: string, purpose: LeasePurpose, ttlMs: number): Promise<HeldLease | null>;
  /** Who holds a key now, if anybody: what a waiter decides on. */
  findHolder(key: string): Promise<{ owner: string; purpose: LeasePurpose } | null>;
}
