/** Three replicas, each with this many calls at the moment the token ends. */
export const PROCESSES = 3;
export const CALLS_PER_PROCESS = 70;
/** In a row, with fewer calls each: many chances to go wrong rather than one big one. */
export const ROTATIONS = 50;
export const ROTATION_CALLS = 20;
/** Calls of a rotation begin within so long, each after a pause of its own. */
export const CALL_SPREAD_MS = 80;
/** So long takes a refresh, so that the calls of a storm overlap with it. */
export const REFRESH_DELAY_MS = 150;
export const ROTATION_REFRESH_DELAY_MS = 20;
/** Of access tokens, by the clock of the stage. */
export const ACCESS_TOKEN_LIFETIME_MS = 3_600_000;
export const STORM_USER = 'ada';
