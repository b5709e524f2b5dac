import { escapeInvisible } from '../ui/escapeInvisible.ts';

/** A line of JSON. Put together in their order the lines are the value, and nothing else. */
interface ExactLine {
  readonly depth: number;
  /** The name of a member, quoted. */
  readonly name?: string;
  /** A value that is quoted where it is a text, or a bracket. */
  readonly text: string;
  readonly hasTrailingComma: boolean;
}

/** An object or array that is being written. */
interface OpenContainer {
  readonly value: object;
  /** Names of an object; an array has none. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly hasTrailingComma: boolean;
  nextIndex: number;
}

/** A value as JSON, whole, in which every character can be seen. Not recursive: how deep it goes is up to a model. */
export function formatExactLines(value: unknown): ExactLine[] {
  const lines: ExactLine[] = [];
  const stack: OpenContainer[] = [];

  function writeValue(item: unknown, hasTrailingComma: boolean, name?: string): void {
    const nameField = name === undefined ? {} : { name: quote(name) };
    const depth = stack.length;
    if (typeof item !== 'object' || item === null) {
      lines.push({ depth, ...nameField, text: quote(item), hasTrailingComma });
      return;
    }
    const container = openContainer(item, hasTrailingComma);
    const [openBracket, closeBracket] = brackets(container);
    if (container.count === 0) {
      lines.push({ depth, ...nameField, text: openBracket + closeBracket, hasTrailingComma });
      return;
    }
    lines.push({ depth, ...nameField, text: openBracket, hasTrailingComma: false });
    stack.push(container);
  }

  writeValue(value, false);
  for (let parent = stack.at(-1); parent; parent = stack.at(-1)) {
    if (parent.nextIndex < parent.count) {
      const index = parent.nextIndex;
      parent.nextIndex += 1;
      const name = parent.names?.[index];
      const item = (parent.value as Readonly<Record<string, unknown>>)[name ?? String(index)];
      writeValue(item, index < parent.count - 1, name);
    } else {
      stack.pop();
      lines.push({
        depth: stack.length,
        text: brackets(parent)[1],
        hasTrailingComma: parent.hasTrailingComma,
      });
    }
  }
  return lines;
}

function openContainer(value: object, hasTrailingComma: boolean): OpenContainer {
  if (Array.isArray(value))
    return { value, names: undefined, count: value.length, hasTrailingComma, nextIndex: 0 };
  // What is undefined is not sent.
  const names = Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [name]));
  return { value, names, count: names.length, hasTrailingComma, nextIndex: 0 };
}

function brackets({ names }: OpenContainer): readonly [string, string] {
  return names ? ['{', '}'] : ['[', ']'];
}

function quote(value: unknown): string {
  return escapeInvisible(JSON.stringify(value ?? null));
}

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
