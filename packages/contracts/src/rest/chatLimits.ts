/** The most that one message may have. */
export const LONGEST_CHAT_TEXT = 100_000;
/** How often a model may come back with further calls, and how many of them run side by side. */
export const MOST_CHAT_ROUNDS = 16;
export const MOST_PARALLEL_CALLS = 8;
