/** How long and how often, in milliseconds. */
export interface VaultTimings {
  /** One token request. */
  readonly postMs: number;
  /** How old our claim may be when the request leaves: after it there must be time for the whole request. */
  readonly sendWithinMs: number;
  /** For how long nobody else may send the same refresh token. */
  readonly claimMs: number;
  readonly leaseMs: number;
  readonly leaseRenewMs: number;
  /** For how long somebody else's refresh is waited for. */
  readonly waitMs: number;
  readonly pollMs: number;
  /** For how long a pair that was received is tried to be stored before it goes aside. */
  readonly holdMs: number;
  /** What the leases may take to answer. */
  readonly storeTimeoutMs: number;
  /** Between attempts at an authorization server that is away; doubles up to the longest. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** For how long an answer that would only be repeated stands. */
  readonly failureCacheMs: number;
  /** For how long a new token that was refused all the same is not renewed again. */
  readonly refusedTokenMs: number;
  /** Every token is renewed this long before its end at most, and a tenth of its lifetime at most. */
  readonly maxSkewMs: number;
  /** Renewed before anybody asks: only what was used this recently, and lives this long. */
  readonly recentUseMs: number;
  readonly minEarlyLifetimeMs: number;
  /** That a server has no credential is remembered this long at most. */
  readonly absentCacheMs: number;
  /** For how long calls run on while the store does not answer. */
  readonly maxStaleMs: number;
  readonly revokeTimeoutMs: number;
  readonly usageIntervalMs: number;
  readonly closeTimeoutMs: number;
}

export const vaultTimings: VaultTimings = {
  postMs: 10_000,
  sendWithinMs: 8_000,
  claimMs: 20_000,
  leaseMs: 25_000,
  leaseRenewMs: 8_000,
  waitMs: 30_000,
  pollMs: 100,
  holdMs: 40_000,
  storeTimeoutMs: 1_000,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  failureCacheMs: 60_000,
  refusedTokenMs: 30_000,
  maxSkewMs: 60_000,
  recentUseMs: 30 * 60_000,
  minEarlyLifetimeMs: 30_000,
  absentCacheMs: 10_000,
  maxStaleMs: 30_000,
  revokeTimeoutMs: 5_000,
  usageIntervalMs: 60_000,
  closeTimeoutMs: 15_000,
};

/** The same chain, faster or slower: for who tests it across processes. */
export function scaledTimings(factor: number): VaultTimings {
  const times: readonly [string, number][] = Object.entries(vaultTimings);
  return Object.fromEntries(times.map(([name, ms]) => [name, ms * factor])) as unknown as VaultTimings;
}

/**
 * Each of these outlasts the one before it, or a refresh token is sent twice: a request its claim, a claim its lease, and
 * who waits the holder.
 */
export function checkTimings(timings: VaultTimings): VaultTimings {
  const { postMs, sendWithinMs, claimMs, leaseMs, leaseRenewMs, waitMs, holdMs } = timings;
  const rules: readonly (readonly [rule: string, isMet: boolean])[] = [
    ['every timing is a positive number', Object.values(timings).every((ms: number) => ms > 0)],
    ['postMs < claimMs', postMs < claimMs],
    ['sendWithinMs + postMs < claimMs', sendWithinMs + postMs < claimMs],
    ['claimMs < leaseMs', claimMs < leaseMs],
    ['2 * leaseRenewMs < leaseMs', 2 * leaseRenewMs < leaseMs],
    ['leaseMs < waitMs', leaseMs < waitMs],
    ['claimMs < holdMs', claimMs < holdMs],
  ];
  const violated = rules.filter(([, isMet]) => !isMet).map(([rule]) => rule);
  if (violated.length > 0) throw new RangeError(`Invalid vault timings: ${violated.join('; ')}`);
  return Object.freeze({ ...timings });
}
