export interface ConnectionLimits {
  /** A user's connection that nobody used for this long is closed. */
  readonly idleTimeoutMs: number;
  /** How often idle connections and old breakers are looked for. */
  readonly sweepIntervalMs: number;
  /** Connections of one principal. */
  readonly maxPerPrincipal: number;
  /** Connections of all users together; counted apart for servers that keep no session. */
  readonly maxTotal: number;
  /** The longest a close is waited for. */
  readonly closeTimeoutMs: number;
  /** The longest one user waits for another's opening, which may show that the server keeps no session. */
  readonly probeWaitMs: number;
  /** Consecutive failures that open a breaker. */
  readonly breakerThreshold: number;
  readonly breakerBaseMs: number;
  readonly breakerMaxMs: number;
  /** Breakers and remembered failures kept at most; the oldest goes first. */
  readonly maxEntries: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  idleTimeoutMs: 15 * 60_000,
  sweepIntervalMs: 30_000,
  maxPerPrincipal: 32,
  maxTotal: 2_000,
  closeTimeoutMs: 5_000,
  probeWaitMs: 2_000,
  breakerThreshold: 3,
  breakerBaseMs: 30_000,
  breakerMaxMs: 300_000,
  maxEntries: 10_000,
};
