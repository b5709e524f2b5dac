/** Answers in progress on this replica. */
export const MAX_ANSWERS_PER_USER = 4;
export const MAX_ANSWERS = 500;

/** Text of one answer, in characters. */
export const MAX_ANSWER_LENGTH = 500_000;
/** Calls that a model requests in one round, and the sizes of one call, in characters. */
export const MAX_CALLS_PER_ROUND = 64;
export const MAX_CALL_ARGUMENTS_LENGTH = 256 * 1024;
export const MAX_CALL_NAME_LENGTH = 256;
/** Names and arguments of one round, and arguments of one answer. They stay in memory until the answer ends. */
export const MAX_ROUND_LENGTH = 512 * 1024;
export const MAX_ANSWER_ARGUMENTS_LENGTH = 2 * 1024 * 1024;
/** Total time of one answer, including the time it waits for the user. */
export const MAX_ANSWER_MS = 30 * 60_000;

/** Time that a call waits for its user to sign in to a server. */
export const SIGN_IN_WAIT_MS = 10 * 60_000;
/** The first sign-in, and one more for a wider scope. */
export const MAX_SIGN_INS_PER_CALL = 2;

/** JSON size of one result: in the stored conversation, and in the event that displays it. */
export const MAX_STORED_RESULT_BYTES = 256 * 1024;
export const MAX_DISPLAYED_RESULT_BYTES = 4 * 1024 * 1024;
/** Results above the stored size that this replica holds for clients that have not read them yet. */
export const MAX_DISPLAY_BYTES_PER_USER = 16 * 1024 * 1024;
export const MAX_DISPLAY_BYTES = 64 * 1024 * 1024;
/** Content blocks and JSON nodes of a stored result. Rendering many small nodes costs a browser more than their size suggests. */
export const MAX_STORED_BLOCKS = 200;
export const MAX_STORED_NODES = 20_000;
/** JSON size of one message. Sealing adds a third, and the store limits the size of a record. */
export const MAX_STORED_MESSAGE_BYTES = 2_800 * 1024;

/** Characters sent to a model: the whole request, a new result, and a result of an earlier turn. */
export const MAX_MODEL_INPUT_LENGTH = 200_000;
export const MAX_SENT_RESULT_LENGTH = 50_000;
export const MAX_HISTORY_RESULT_LENGTH = 4_000;
/** OpenAI rejects requests with more tools or longer descriptions. */
export const MAX_MODEL_TOOLS = 128;
export const MAX_TOOL_DESCRIPTION_LENGTH = 1_024;
export const MAX_TOOL_SCHEMA_LENGTH = 32 * 1024;
export const MAX_TOOLS_LENGTH = 400_000;
