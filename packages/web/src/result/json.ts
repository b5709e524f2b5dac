export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Beyond this two values are not compared: they count as different, and both are shown. */
const MAX_COMPARED_VALUES = 50_000;
const MAX_COMPARED_DEPTH = 100;

/** Whether two values of JSON say the same, in whatever order their names stand. */
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
 * What is read anew and says the same stays the same object, so that what was made of it need not be made anew. The usual
 * way to do this copies member by member, and loses one that is called __proto__.
 */
export function keepIfEqual<T>(previous: T | undefined, next: T): T {
  try {
    return previous !== undefined && JSON.stringify(previous) === JSON.stringify(next) ? previous : next;
  } catch {
    // Nested too deep to be written.
    return next;
  }
}

/** Longer texts are shown as they came: nobody reads them line by line. */
const MAX_FORMATTED_LENGTH = 500_000;
const MAX_INDENT_DEPTH = 100;
const INDENT = '  ';

/**
 * A JSON document with line ends and indentation, or undefined where the text is none. Only white space changes: a
 * number too long for a browser, or a name that stands there twice, is shown as the server wrote it.
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

/** Strings are one token, white space between tokens none, and everything else one character or a run of them. */
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
