/** Lines per chunk. The style sheet contains the height of this many lines. */
export const CHUNK_LINES = 50;
/** A line can have megabytes. Laying it out at once would block the page. */
const MAX_CHUNK_LENGTH = 20_000;

/**
 * Splits a text into chunks that the browser lays out when they come into view. Joined with line breaks they are
 * the original text.
 */
export function chunkText(text: string): string[] {
  const chunks: string[] = [];
  let start = 0;
  while (start <= text.length) {
    const end = findChunkEnd(text, start);
    chunks.push(text.slice(start, end));
    // A line that was split has no line break to skip.
    start = end < text.length && text[end] !== '\n' ? end : end + 1;
  }
  return chunks;
}

function findChunkEnd(text: string, start: number): number {
  let end = start - 1;
  for (let lines = 0; lines < CHUNK_LINES; lines += 1) {
    const next = text.indexOf('\n', end + 1);
    const lineEnd = next === -1 ? text.length : next;
    if (lineEnd - start > MAX_CHUNK_LENGTH)
      return lines === 0 ? characterBoundary(text, start + MAX_CHUNK_LENGTH) : end;
    end = lineEnd;
    if (next === -1) break;
  }
  return end;
}

/** Avoids splitting a surrogate pair. */
function characterBoundary(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
