/** Three replicas, each with this many concurrent calls when the token expires. */
export const PROCESSES = 3;
export const CALLS_PER_PROCESS = 70;
/** Consecutive rotations with fewer calls each. */
export const ROTATIONS = 50;
export const ROTATION_CALLS = 20;
/** The calls of a rotation start within this time, each after a random pause. */
export const CALL_SPREAD_MS = 80;
/** The duration of a refresh, so that the calls of a storm overlap with it. */
export const REFRESH_DELAY_MS = 150;
export const ROTATION_REFRESH_DELAY_MS = 20;
/** The lifetime of access tokens, by the clock of the rig. */
export const ACCESS_TOKEN_LIFETIME_MS = 3_600_000;
export const STORM_USER = 'ada';
