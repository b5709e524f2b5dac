/** A pair that nobody stored within a day is of no use to anybody: its access token is over, its user has signed in again. */
export const PENDING_WRITE_TTL_MS = 24 * 60 * 60 * 1000;
