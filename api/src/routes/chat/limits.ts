/** Answers that are being written at this replica. */
export const MAX_ANSWERS_PER_USER = 4;
export const MAX_ANSWERS = 500;

/** What one answer may say in words, and how many calls one round of it may want. */
export const MAX_ANSWER_LENGTH = 500_000;
export const MAX_CALLS_PER_ROUND = 64;
export const MAX_CALL_ARGUMENTS_LENGTH = 256 * 1024;
export const MAX_CALL_NAME_LENGTH = 256;
/** Names and arguments of one round, and arguments of one answer: they are held for as long as it is written. */
export const MAX_ROUND_LENGTH = 512 * 1024;
export const MAX_ANSWER_ARGUMENTS_LENGTH = 2 * 1024 * 1024;
/** Then an answer ends, whatever it waits for. */
export const MAX_ANSWER_MS = 30 * 60_000;

/** How long a call waits for its user to sign in at a server, and how often: once, and once to reach further. */
export const SIGN_IN_WAIT_MS = 10 * 60_000;
export const MAX_SIGN_INS_PER_CALL = 2;

/** Of one result, as JSON: what is kept, and what a person is shown as it comes. */
export const MAX_STORED_RESULT_BYTES = 256 * 1024;
export const MAX_DISPLAYED_RESULT_BYTES = 4 * 1024 * 1024;
/** Of results larger than what is kept: what waits at this replica for readers who have not read it yet. */
export const MAX_DISPLAY_BYTES_PER_USER = 16 * 1024 * 1024;
export const MAX_DISPLAY_BYTES = 64 * 1024 * 1024;
/** Many small pieces cost whoever reads them more than their bytes say. */
export const MAX_STORED_BLOCKS = 200;
export const MAX_STORED_NODES = 20_000;
/** Of one message, as JSON. Sealed it takes a third more, and the store has an end. */
export const MAX_STORED_MESSAGE_BYTES = 2_800 * 1024;

/** What a model is sent, in characters: all of it, a result just come, and one of earlier. */
export const MAX_MODEL_INPUT_LENGTH = 200_000;
export const MAX_SENT_RESULT_LENGTH = 50_000;
export const MAX_HISTORY_RESULT_LENGTH = 4_000;
/** OpenAI takes no more tools, and no longer description. */
export const MAX_MODEL_TOOLS = 128;
export const MAX_TOOL_DESCRIPTION_LENGTH = 1_024;
export const MAX_TOOL_SCHEMA_LENGTH = 32 * 1024;
export const MAX_TOOLS_LENGTH = 400_000;
