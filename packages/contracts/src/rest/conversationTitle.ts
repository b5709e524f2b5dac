const LONGEST = 60;

/** What a conversation is called until somebody renames it: how it began, in one line and cut between words. */
export function conversationTitle(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= LONGEST) return line;
  // Half a pair at the end is no character.
  const cut = line.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, '');
  const end = cut.lastIndexOf(' ');
  return `${end > LONGEST / 2 ? cut.slice(0, end) : cut}…`;
}
