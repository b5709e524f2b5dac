/** Of one owner. */
export const MOST_BLOCKS = 200;
/** Of one block, sealed: a third more than its JSON. A tool says at most 256 KiB of itself. */
export const LARGEST_BLOCK = 512 * 1024;
/** Of structured content that is held to a schema. */
export const LARGEST_CHECKED_OUTPUT = 1024 * 1024;
