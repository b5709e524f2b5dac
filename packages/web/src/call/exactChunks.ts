import type { ExactLine } from './exactLines.ts';

/** What is laid out at once. The style sheet knows the height of this many lines. */
const PIECES_OF_CHUNK = 50;
const LONGEST_PIECE = 4_000;
const LONGEST_CHUNK = 20_000;

/** A line, or a part of a line that is too long to be laid out as one. */
export interface ExactPiece extends ExactLine {
  /** The first piece of a line has its number: where a line only goes on, there is none. */
  readonly number: number | undefined;
}

/** Lines in portions that a browser lays out one by one. Nothing is left out. */
export function exactChunks(lines: readonly ExactLine[]): ExactPiece[][] {
  const chunks: ExactPiece[][] = [];
  let chunk: ExactPiece[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    for (const piece of piecesOf(line, index + 1)) {
      if (chunk.length === PIECES_OF_CHUNK || (chunk.length > 0 && length > LONGEST_CHUNK)) {
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

function piecesOf(line: ExactLine, number: number): ExactPiece[] {
  const { depth, name, text, isFollowed } = line;
  const texts = split(text);
  return texts.map((part, index) => ({
    ...{ depth, text: part },
    ...(index === 0 && name !== undefined && { name }),
    number: index === 0 ? number : undefined,
    isFollowed: isFollowed && index === texts.length - 1,
  }));
}

function split(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  do {
    const end = wholeCharacter(text, start + LONGEST_PIECE);
    parts.push(text.slice(start, end));
    start = end;
  } while (start < text.length);
  return parts;
}

/** Not between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
