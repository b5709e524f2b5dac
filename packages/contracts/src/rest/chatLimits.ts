/** The most that one message may have. */
export const MAX_CHAT_TEXT_LENGTH = 100_000;
/** How often a model may come back with further calls, and how many of them run side by side. */
export const MAX_CHAT_ROUNDS = 16;
export const MAX_PARALLEL_CHAT_CALLS = 8;
