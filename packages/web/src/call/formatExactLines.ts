import { escapeInvisible } from './escapeInvisible.ts';

/** A line of JSON. Put together in their order the lines are the value, and nothing else. */
export interface ExactLine {
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
