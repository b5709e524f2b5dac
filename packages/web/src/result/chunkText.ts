/** What is laid out at once. The style sheet knows the height of this many lines. */
export const LINES_OF_CHUNK = 50;
/** A line can be megabytes long; laid out as one it would hold up the page. */
const LONGEST_CHUNK = 20_000;

/** A text in pieces that a browser lays out one by one, as they come into view. Joined with line ends they are the text again. */
export function chunkText(text: string): string[] {
  const chunks: string[] = [];
  let start = 0;
  while (start <= text.length) {
    const end = endOfChunk(text, start);
    chunks.push(text.slice(start, end));
    // A line that was cut has no line end to leave out.
    start = end < text.length && text[end] !== '\n' ? end : end + 1;
  }
  return chunks;
}

function endOfChunk(text: string, start: number): number {
  let end = start - 1;
  for (let lines = 0; lines < LINES_OF_CHUNK; lines += 1) {
    const next = text.indexOf('\n', end + 1);
    const lineEnd = next === -1 ? text.length : next;
    if (lineEnd - start > LONGEST_CHUNK)
      return lines === 0 ? wholeCharacter(text, start + LONGEST_CHUNK) : end;
    end = lineEnd;
    if (next === -1) break;
  }
  return end;
}

/** Not between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
