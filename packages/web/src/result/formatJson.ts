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
