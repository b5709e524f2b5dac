/**
 * About how many states a pattern comes to: a repetition that counts is written out, and one inside another multiplies.
 * Read from the text, because building them is what costs. Where the text is no pattern any number will do: the engine
 * refuses it.
 */
export function estimatePatternSize(source: string): number {
  const outerSizes: number[] = [];
  let size = 0;
  /** Of what the next repetition would repeat. */
  let lastTermSize = 0;
  for (let position = 0; position < source.length;) {
    const [token, repeatCount] = readNextToken(source, position);
    position += token.length;
    if (repeatCount !== undefined) {
      size += lastTermSize * (repeatCount - 1);
      lastTermSize *= repeatCount;
    } else if (token.startsWith('(')) {
      outerSizes.push(size);
      size = 0;
      lastTermSize = 0;
    } else if (token === ')') {
      lastTermSize = size + 1;
      size = (outerSizes.pop() ?? 0) + lastTermSize;
    } else {
      lastTermSize = 1;
      size += 1;
    }
  }
  return outerSizes.reduce((sum, groupSize) => sum + groupSize, size);
}

const REPETITION = /\{(\d+)(,?)(\d*)\}/y;
const ESCAPE = /\\(?:[pP]\{[^}]{0,40}\}|[\s\S]?)/y;
const CHARACTER_CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]?/y;

/** The next piece of a pattern; with how often what stands before it is written out, when it is a counted repetition. */
function readNextToken(source: string, position: number): [token: string, count?: number] {
  const matchAt = (pattern: RegExp) => {
    pattern.lastIndex = position;
    return pattern.exec(source);
  };
  switch (source[position]) {
    case '\\':
      return [matchAt(ESCAPE)?.[0] ?? '\\'];
    case '[':
      return [matchAt(CHARACTER_CLASS)?.[0] ?? '['];
    case '(':
      return [source.startsWith('(?:', position) ? '(?:' : '('];
    case '{': {
      const repetition = matchAt(REPETITION);
      if (!repetition) return ['{'];
      const minCount = Number(repetition[1]);
      const maxCount = repetition[2] === '' ? minCount : Number(repetition[3] || minCount + 1);
      // Those that may be missing are a choice each, and `{n,}` ends in a loop.
      return [repetition[0], Math.max(1, minCount + 2 * Math.max(0, maxCount - minCount))];
    }
    default:
      return [source[position] as string];
  }
}
