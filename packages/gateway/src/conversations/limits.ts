import type { ConversationLimits } from '../ports/index.ts';

export const MAX_CONVERSATIONS = 1_000;
/** Of one message, sealed: a third more than its JSON. MongoDB keeps no document over 16 MiB. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** A conversation is opened whole, in memory: beside the number of its messages their size has an end. */
export const conversationLimits: ConversationLimits = { maxMessages: 2_000, maxSize: 32 * 1024 * 1024 };
export const MAX_TITLE_LENGTH = 200;
