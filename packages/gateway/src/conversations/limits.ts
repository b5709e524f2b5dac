import type { ConversationRoom } from '../ports/index.ts';

export const MOST_CONVERSATIONS = 1_000;
/** Of one message, sealed: a third more than its JSON. MongoDB keeps no document over 16 MiB. */
export const LARGEST_MESSAGE = 4 * 1024 * 1024;
/** A conversation is opened whole, in memory: beside the number of its messages their size has an end. */
export const conversationRoom: ConversationRoom = { messages: 2_000, size: 32 * 1024 * 1024 };
export const LONGEST_TITLE = 200;
