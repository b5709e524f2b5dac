/** How long and how often. Times in milliseconds. */
export interface ExchangerLimits {
  /** One token request. A provider that does not listen to its signal is left behind. */
  readonly attemptMs: number;
  /** The one repetition comes after a random time between these two. */
  readonly retryFromMs: number;
  readonly retryToMs: number;
  /** Who is asked to come back later than this is told so and repeats nothing. */
  readonly longestRetryAfterMs: number;
  /** What the cache and the leases may take to answer: a token is worth more than either. */
  readonly sharedMs: number;
  /** For how long a cache that failed is left alone. */
  readonly outageMs: number;
  /** A process that died with it stops nobody for longer. */
  readonly leaseMs: number;
  /** For how long somebody else's exchange is waited for. */
  readonly turnMs: number;
  /** Without leases, processes begin at random times within this, and look again before they exchange. */
  readonly staggerMs: number;
  /** A token with less left is used by who waited for it and not kept. */
  readonly shortestKeptMs: number;
  /** Tokens in memory. */
  readonly mostKept: number;
  /** How often tokens that are over leave the memory. */
  readonly sweepMs: number;
  /** For how long a fault is the answer without asking again. */
  readonly rejectedMs: number;
  readonly consentMs: number;
  readonly misconfiguredMs: number;
  /** After a 429 that does not say for how long, and after an answer without a token. */
  readonly throttledMs: number;
  /** However long a provider asks to be left alone. */
  readonly longestThrottledMs: number;
  /** Failed exchanges in a row, with nothing between them, after which an endpoint is left alone. */
  readonly failuresToOpen: number;
  /** Users who were told to come back later, after which it counts for the whole endpoint. */
  readonly throttledUsersToOpen: number;
  /** How long an endpoint is left alone at first; doubles with each probe that fails, up to the longest. */
  readonly openMs: number;
  readonly longestOpenMs: number;
}

export const exchangerLimits: ExchangerLimits = {
  attemptMs: 10_000,
  retryFromMs: 100,
  retryToMs: 300,
  longestRetryAfterMs: 5_000,
  sharedMs: 1_000,
  outageMs: 2_000,
  leaseMs: 15_000,
  turnMs: 12_000,
  staggerMs: 250,
  shortestKeptMs: 5_000,
  mostKept: 20_000,
  sweepMs: 60_000,
  rejectedMs: 30_000,
  consentMs: 300_000,
  misconfiguredMs: 60_000,
  throttledMs: 2_000,
  longestThrottledMs: 3_600_000,
  failuresToOpen: 5,
  throttledUsersToOpen: 3,
  openMs: 5_000,
  longestOpenMs: 60_000,
};
