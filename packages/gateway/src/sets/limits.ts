/** Of one owner. */
export const MOST_SETS = 100;
/** Of one set, sealed. */
export const LARGEST_SET = 512 * 1024;
/** Of one user: under way at once, and kept of those that are not. */
export const MOST_RUNNING = 20;
export const MOST_KEPT_RUNS = 100;
export const RUN_KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** Of the result of one step, and of those of one run together, as JSON. What is larger is not kept. */
export const LARGEST_RESULT = 256 * 1024;
export const LARGEST_RESULTS = 1024 * 1024;
/** What a run is given, as JSON: with the results well below what a store takes of one record. */
export const LARGEST_GIVEN = 512 * 1024;
/** For how long a run belongs to a process that does not say otherwise any more, and how often it does. */
export const LEASE_MS = 20_000;
export const BEAT_MS = 3_000;
