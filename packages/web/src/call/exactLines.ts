import { escapeInvisible } from '../ui/escapeInvisible.ts';

/** Line of formatted JSON. The joined lines are exactly the value. */
interface ExactLine {
  readonly depth: number;
  /** Quoted property name. */
  readonly name?: string;
  /** JSON of a primitive value, or a bracket. */
  readonly text: string;
  readonly hasTrailingComma: boolean;
}

/** Object or array that is being written. */
interface OpenContainer {
  readonly value: object;
  /** Property names of an object; undefined for an array. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly hasTrailingComma: boolean;
  nextIndex: number;
}

/** Formats JSON lines with all characters visible. Not recursive: the model controls the depth. */
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
  // JSON omits undefined properties.
  const names = Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [name]));
  return { value, names, count: names.length, hasTrailingComma, nextIndex: 0 };
}

function brackets({ names }: OpenContainer): readonly [string, string] {
  return names ? ['{', '}'] : ['[', ']'];
}

function quote(value: unknown): string {
  return escapeInvisible(JSON.stringify(value ?? null));
}

/** Lines per chunk. ExactArguments.module.css contains the height of this many lines. */
const MAX_CHUNK_LINES = 50;
const MAX_PIECE_LENGTH = 4_000;
const MAX_CHUNK_LENGTH = 20_000;

/** Line, or a part of a line that is too long for one layout box. */
export interface ExactLinePiece extends ExactLine {
  /** Line number, or undefined for a continuation of the same line. */
  readonly number: number | undefined;
}

/** Splits lines into chunks that the browser lays out separately. No line is omitted. */
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

/** Returns an index that does not split a surrogate pair. */
function characterBoundary(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
