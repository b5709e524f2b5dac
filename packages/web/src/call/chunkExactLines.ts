import type { ExactLine } from './formatExactLines.ts';

/** What is laid out at once. The style sheet knows the height of this many lines. */
const MAX_CHUNK_LINES = 50;
const MAX_PIECE_LENGTH = 4_000;
const MAX_CHUNK_LENGTH = 20_000;

/** A line, or a part of a line that is too long to be laid out as one. */
export interface ExactLinePiece extends ExactLine {
  /** The first piece of a line has its number: where a line only goes on, there is none. */
  readonly number: number | undefined;
}

/** Lines in portions that a browser lays out one by one. Nothing is left out. */
export function chunkExactLines(lines: readonly ExactLine[]): ExactLinePiece[][] {
  const chunks: ExactLinePiece[][] = [];
  let chunk: ExactLinePiece[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    for (const piece of splitLine(line, index + 1)) {
      if (chunk.length === MAX_CHUNK_LINES || (chunk.length > 0 && length > MAX_CHUNK_LENGTH)) {
        chunks.push(chunk);
        chunk = [];
        length = 0;
      }
      chunk.push(piece);
      length += piece.text.length + (piece.name?.length ?? 0);
    }
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

function splitLine(line: ExactLine, number: number): ExactLinePiece[] {
  const { depth, name, text, hasTrailingComma } = line;
  const texts = splitText(text);
  return texts.map((part, index) => ({
    ...{ depth, text: part },
    ...(index === 0 && name !== undefined && { name }),
    number: index === 0 ? number : undefined,
    hasTrailingComma: hasTrailingComma && index === texts.length - 1,
  }));
}

function splitText(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  do {
    const end = characterBoundary(text, start + MAX_PIECE_LENGTH);
    parts.push(text.slice(start, end));
    start = end;
  } while (start < text.length);
  return parts;
}

/** Not between the halves of a surrogate pair. */
function characterBoundary(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
