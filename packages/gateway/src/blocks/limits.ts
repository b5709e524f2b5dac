/** Of one owner. */
export const MAX_BLOCKS = 200;
/** Of one block, sealed: a third more than its JSON. A tool says at most 256 KiB of itself. */
export const MAX_BLOCK_LENGTH = 512 * 1024;
/** Of structured content that is held to a schema. */
export const MAX_CHECKED_OUTPUT_LENGTH = 1024 * 1024;
