/** Longer texts are shown as they came: nobody reads them line by line. */
const LONGEST = 500_000;
const DEEPEST = 100;
const INDENT = '  ';

/**
 * A JSON document with line ends and indentation, or undefined where the text is none. Only white space changes: a
 * number too long for a browser, or a name that stands there twice, is shown as the server wrote it.
 */
export function prettyJson(text: string): string | undefined {
  const first = text.trimStart()[0];
  if ((first !== '{' && first !== '[') || text.length > LONGEST) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return indent(text);
}

/** Strings are one token, white space between tokens none, and everything else one character or a run of them. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function indent(text: string): string | undefined {
  const out: string[] = [];
  let depth = 0;
  let before = '';
  const newLine = () => out.push('\n', INDENT.repeat(depth));
  for (const [token] of text.matchAll(TOKENS)) {
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    if (closes ? before !== '{' && before !== '[' : before === '{' || before === '[' || before === ',')
      newLine();
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    if (depth > DEEPEST) return undefined;
    before = token;
  }
  return out.join('');
}
