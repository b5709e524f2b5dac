/** The work that a lease protects. A replica that waits for it can read the purpose. */
export type LeasePurpose = 'refresh' | 'registration' | 'exchange' | 'maintenance' | 'answer' | 'run';

export interface HeldLease {
  readonly key: string;
  /** 128 random bits that identify the holder. Only calls with this token can extend or release the lease. */
  readonly owner: string;
  readonly purpose: LeasePurpose;
  /** False: the lease expired and another replica may hold it. The holder must stop the work that the lease protects. */
  extend(ttlMs: number): Promise<boolean>;
  /** True if the caller still held the lease. Releasing a lost lease has no effect on its new holder. */
  release(): Promise<boolean>;
}

/**
 * Limits contention between replicas: at most one holder per key until the TTL passes. A lease is not a fence. If work
 * must never happen twice, a compare-and-set in the record guarantees that.
 */
export interface Leases {
  /** Null if another holder has the lease. */
  acquire(key: string, purpose: LeasePurpose, ttlMs: number): Promise<HeldLease | null>;
  /** The current holder of a key; null if there is none. */
  findHolder(key: string): Promise<{ owner: string; purpose: LeasePurpose } | null>;
}
