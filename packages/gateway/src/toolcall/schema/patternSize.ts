/**
 * About how many states a pattern comes to: a repetition that counts is written out, and one inside another multiplies.
 * Read from the text, because building them is what costs. Where the text is no pattern any number will do: the engine
 * refuses it.
 */
export function patternSize(source: string): number {
  const outer: number[] = [];
  let size = 0;
  /** Of what the next repetition would repeat. */
  let last = 0;
  for (let at = 0; at < source.length;) {
    const [token, count] = tokenAt(source, at);
    at += token.length;
    if (count !== undefined) {
      size += last * (count - 1);
      last *= count;
    } else if (token.startsWith('(')) {
      outer.push(size);
      size = 0;
      last = 0;
    } else if (token === ')') {
      last = size + 1;
      size = (outer.pop() ?? 0) + last;
    } else {
      last = 1;
      size += 1;
    }
  }
  return outer.reduce((sum, one) => sum + one, size);
}

const COUNTED = /\{(\d+)(,?)(\d*)\}/y;
const ESCAPED = /\\(?:[pP]\{[^}]{0,40}\}|[\s\S]?)/y;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]?/y;

/** The next piece of a pattern; with how often what stands before it is written out, when it is a counted repetition. */
function tokenAt(source: string, at: number): [token: string, count?: number] {
  const match = (form: RegExp) => {
    form.lastIndex = at;
    return form.exec(source);
  };
  switch (source[at]) {
    case '\\':
      return [match(ESCAPED)?.[0] ?? '\\'];
    case '[':
      return [match(CLASS)?.[0] ?? '['];
    case '(':
      return [source.startsWith('(?:', at) ? '(?:' : '('];
    case '{': {
      const found = match(COUNTED);
      if (!found) return ['{'];
      const least = Number(found[1]);
      const most = found[2] === '' ? least : Number(found[3] || least + 1);
      // Those that may be missing are a choice each, and `{n,}` ends in a loop.
      return [found[0], Math.max(1, least + 2 * Math.max(0, most - least))];
    }
    default:
      return [source[at] as string];
  }
}
