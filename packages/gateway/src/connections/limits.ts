export interface ConnectionLimits {
  /** A user's connection that nobody used for this long is closed. */
  readonly idleMs: number;
  /** How often idle connections and old breakers are looked for. */
  readonly sweepMs: number;
  /** Connections of one principal. */
  readonly perPrincipal: number;
  /** Connections of all users together; counted apart for servers that keep no session. */
  readonly total: number;
  /** The longest a close is waited for. */
  readonly closeMs: number;
  /** The longest one user waits for another's opening, which may show that the server keeps no session. */
  readonly scoutMs: number;
  /** Consecutive failures that open a breaker. */
  readonly breakerFailures: number;
  readonly breakerBaseMs: number;
  readonly breakerMaxMs: number;
  /** Breakers and remembered failures kept at most; the oldest goes first. */
  readonly remembered: number;
}

export const defaultLimits: ConnectionLimits = {
  idleMs: 15 * 60_000,
  sweepMs: 30_000,
  perPrincipal: 32,
  total: 2_000,
  closeMs: 5_000,
  scoutMs: 2_000,
  breakerFailures: 3,
  breakerBaseMs: 30_000,
  breakerMaxMs: 300_000,
  remembered: 10_000,
};
