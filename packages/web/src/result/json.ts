export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Larger values count as different, and both are shown. */
const MAX_COMPARED_VALUES = 50_000;
const MAX_COMPARED_DEPTH = 100;

/** Whether two JSON values are equal, regardless of the order of members. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  let remaining = MAX_COMPARED_VALUES;

  function isEqual(a: unknown, b: unknown, depth: number): boolean {
    remaining -= 1;
    if (remaining < 0 || depth > MAX_COMPARED_DEPTH) return false;
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => isEqual(item, b[index], depth + 1));
    }
    if (isRecord(a) && isRecord(b)) {
      const names = Object.keys(a);
      return (
        names.length === Object.keys(b).length &&
        names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name], depth + 1))
      );
    }
    return a === b;
  }

  return isEqual(one, other, 0);
}

/**
 * Keeps the previous object if the new one is equal, so that derived values stay valid. The query library's own
 * version copies members and loses one named __proto__.
 */
export function keepIfEqual<T>(previous: T | undefined, next: T): T {
  try {
    return previous !== undefined && JSON.stringify(previous) === JSON.stringify(next) ? previous : next;
  } catch {
    // Too deeply nested to serialize.
    return next;
  }
}

/** Longer texts are shown unformatted. */
const MAX_FORMATTED_LENGTH = 500_000;
const MAX_INDENT_DEPTH = 100;
const INDENT = '  ';

/**
 * Formats a JSON document; undefined if the text is not JSON. Only white space changes, so that large numbers and
 * duplicate names stay as the server wrote them.
 */
export function formatJson(text: string): string | undefined {
  const firstCharacter = text.trimStart()[0];
  if ((firstCharacter !== '{' && firstCharacter !== '[') || text.length > MAX_FORMATTED_LENGTH)
    return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return indent(text);
}

/**
 * A string is one token, white space between tokens is none, and everything else is a character or a run of
 * characters.
 */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function indent(text: string): string | undefined {
  const out: string[] = [];
  let depth = 0;
  let previousToken = '';
  const newLine = () => out.push('\n', INDENT.repeat(depth));
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    if (
      closes
        ? previousToken !== '{' && previousToken !== '['
        : previousToken === '{' || previousToken === '[' || previousToken === ','
    )
      newLine();
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    if (depth > MAX_INDENT_DEPTH) return undefined;
    previousToken = token;
  }
  return out.join('');
}
