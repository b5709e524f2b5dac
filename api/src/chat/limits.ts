/** Answers that are being written at this replica. */
export const MOST_ANSWERS_OF_A_USER = 4;
export const MOST_ANSWERS = 500;

/** What one answer may say in words, and how many calls one round of it may want. */
export const LONGEST_ANSWER = 500_000;
export const MOST_CALLS_OF_A_ROUND = 64;
export const LONGEST_ARGUMENTS = 256 * 1024;
export const LONGEST_CALL_NAME = 256;
/** Names and arguments of one round, and arguments of one answer: they are held for as long as it is written. */
export const LARGEST_ROUND = 512 * 1024;
export const MOST_ARGUMENTS = 2 * 1024 * 1024;
/** Then an answer ends, whatever it waits for. */
export const LONGEST_ANSWER_MS = 30 * 60_000;

/** How long a call waits for its user to sign in at a server, and how often: once, and once to reach further. */
export const SIGN_IN_WAIT_MS = 10 * 60_000;
export const MOST_SIGN_INS_OF_A_CALL = 2;

/** Of one result, as JSON: what is kept, and what a person is shown as it comes. */
export const LARGEST_KEPT_RESULT = 256 * 1024;
export const LARGEST_SHOWN_RESULT = 4 * 1024 * 1024;
/** Of results larger than what is kept: what waits at this replica for readers who have not read it yet. */
export const MOST_SHOWN_OF_A_USER = 16 * 1024 * 1024;
export const MOST_SHOWN = 64 * 1024 * 1024;
/** Many small pieces cost whoever reads them more than their bytes say. */
export const MOST_KEPT_BLOCKS = 200;
export const MOST_KEPT_NODES = 20_000;
/** Of one message, as JSON. Sealed it takes a third more, and the store has an end. */
export const LARGEST_KEPT_MESSAGE = 2_800 * 1024;

/** What a model is sent, in characters: all of it, a result just come, and one of earlier. */
export const MOST_SENT = 200_000;
export const LONGEST_RESULT_SENT = 50_000;
export const LONGEST_RESULT_REMEMBERED = 4_000;
/** OpenAI takes no more tools, and no longer description. */
export const MOST_TOOLS = 128;
export const LONGEST_DESCRIPTION = 1_024;
export const LARGEST_SCHEMA = 32 * 1024;
export const LARGEST_TOOLS = 400_000;
