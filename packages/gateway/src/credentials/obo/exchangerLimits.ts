/** How long and how often. Times in milliseconds. */
export interface ExchangerLimits {
  /** One token request. A provider that does not listen to its signal is left behind. */
  readonly attemptTimeoutMs: number;
  /** The one repetition comes after a random time between these two. */
  readonly minRetryDelayMs: number;
  readonly maxRetryDelayMs: number;
  /** Who is asked to come back later than this is told so and repeats nothing. */
  readonly maxRetryAfterMs: number;
  /** What the cache and the leases may take to answer: a token is worth more than either. */
  readonly sharedTimeoutMs: number;
  /** For how long a cache that failed is left alone. */
  readonly cachePauseMs: number;
  /** A process that died with it stops nobody for longer. */
  readonly leaseTtlMs: number;
  /** For how long somebody else's exchange is waited for. */
  readonly maxLeaseWaitMs: number;
  /** Without leases, processes begin at random times within this, and look again before they exchange. */
  readonly staggerMs: number;
  /** A token with less left is used by who waited for it and not kept. */
  readonly minCacheableMs: number;
  /** Tokens in memory. */
  readonly maxCachedTokens: number;
  /** How often tokens that are over leave the memory. */
  readonly sweepIntervalMs: number;
  /** For how long a fault is the answer without asking again. */
  readonly rejectedTtlMs: number;
  readonly consentTtlMs: number;
  readonly misconfiguredTtlMs: number;
  /** After a 429 that does not say for how long, and after an answer without a token. */
  readonly throttledTtlMs: number;
  /** However long a provider asks to be left alone. */
  readonly maxThrottledMs: number;
  /** Failed exchanges in a row, with nothing between them, after which an endpoint is left alone. */
  readonly failuresToOpen: number;
  /** Users who were told to come back later, after which it counts for the whole endpoint. */
  readonly throttledUsersToOpen: number;
  /** How long an endpoint is left alone at first; doubles with each probe that fails, up to the longest. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export const exchangerLimits: ExchangerLimits = {
  attemptTimeoutMs: 10_000,
  minRetryDelayMs: 100,
  maxRetryDelayMs: 300,
  maxRetryAfterMs: 5_000,
  sharedTimeoutMs: 1_000,
  cachePauseMs: 2_000,
  leaseTtlMs: 15_000,
  maxLeaseWaitMs: 12_000,
  staggerMs: 250,
  minCacheableMs: 5_000,
  maxCachedTokens: 20_000,
  sweepIntervalMs: 60_000,
  rejectedTtlMs: 30_000,
  consentTtlMs: 300_000,
  misconfiguredTtlMs: 60_000,
  throttledTtlMs: 2_000,
  maxThrottledMs: 3_600_000,
  failuresToOpen: 5,
  throttledUsersToOpen: 3,
  openMs: 5_000,
  maxOpenMs: 60_000,
};
