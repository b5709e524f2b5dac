/** Of one owner. */
export const MAX_SETS = 100;
/** Of one set, sealed. */
export const MAX_SET_LENGTH = 512 * 1024;
/** Of one user: under way at once, and kept of those that are not. */
export const MAX_ACTIVE_RUNS = 20;
export const MAX_STORED_RUNS = 100;
export const RUN_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
/** Of the result of one step, and of those of one run together, as JSON. What is larger is not kept. */
export const MAX_RESULT_LENGTH = 256 * 1024;
export const MAX_TOTAL_RESULT_LENGTH = 1024 * 1024;
/** What a run is given, as JSON: with the results well below what a store takes of one record. */
export const MAX_RUN_INPUT_LENGTH = 512 * 1024;
/** For how long a run belongs to a process that does not say otherwise any more, and how often it does. */
export const RUN_LEASE_MS = 20_000;
export const HEARTBEAT_MS = 3_000;
