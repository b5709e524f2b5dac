import { visibleText } from './visibleText.ts';

/** A line of JSON. Put together in their order the lines are the value, and nothing else. */
export interface ExactLine {
  readonly depth: number;
  /** The name of a member, quoted. */
  readonly name?: string;
  /** A value that is quoted where it is a text, or a bracket. */
  readonly text: string;
  readonly isFollowed: boolean;
}

/** An object or array that is being written. */
interface Open {
  readonly value: object;
  /** Names of an object; an array has none. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly isFollowed: boolean;
  next: number;
}

/** A value as JSON, whole, in which every character can be seen. Not recursive: how deep it goes is up to a model. */
export function exactLines(value: unknown): ExactLine[] {
  const lines: ExactLine[] = [];
  const open: Open[] = [];

  function write(item: unknown, isFollowed: boolean, name?: string): void {
    const named = name === undefined ? {} : { name: quoted(name) };
    const depth = open.length;
    if (typeof item !== 'object' || item === null) {
      lines.push({ depth, ...named, text: quoted(item), isFollowed });
      return;
    }
    const opened = opening(item, isFollowed);
    const [begin, end] = brackets(opened);
    if (opened.count === 0) {
      lines.push({ depth, ...named, text: begin + end, isFollowed });
      return;
    }
    lines.push({ depth, ...named, text: begin, isFollowed: false });
    open.push(opened);
  }

  write(value, false);
  for (let last = open.at(-1); last; last = open.at(-1)) {
    if (last.next < last.count) {
      const index = last.next;
      last.next += 1;
      const name = last.names?.[index];
      const item = (last.value as Readonly<Record<string, unknown>>)[name ?? String(index)];
      write(item, index < last.count - 1, name);
    } else {
      open.pop();
      lines.push({ depth: open.length, text: brackets(last)[1], isFollowed: last.isFollowed });
    }
  }
  return lines;
}

function opening(value: object, isFollowed: boolean): Open {
  if (Array.isArray(value)) return { value, names: undefined, count: value.length, isFollowed, next: 0 };
  // What is undefined is not sent.
  const names = Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [name]));
  return { value, names, count: names.length, isFollowed, next: 0 };
}

function brackets({ names }: Open): readonly [string, string] {
  return names ? ['{', '}'] : ['[', ']'];
}

function quoted(value: unknown): string {
  return visibleText(JSON.stringify(value ?? null));
}
