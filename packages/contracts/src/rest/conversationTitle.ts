const MAX_LENGTH = 60;

/** What a conversation is called until somebody renames it: how it began, in one line and cut between words. */
export function createConversationTitle(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_LENGTH) return line;
  // Half a pair at the end is no character.
  const truncated = line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const lastSpace = truncated.lastIndexOf(' ');
  return `${lastSpace > MAX_LENGTH / 2 ? truncated.slice(0, lastSpace) : truncated}…`;
}
