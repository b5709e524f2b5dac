import { RE2JS } from 're2js';
import { type CostBudget, UncheckableSchemaError, chargeCost } from './costBudget.ts';

/** What a schema's patterns may come to altogether: compiling one takes milliseconds for every thousand of these. */
const MAX_PROGRAM_SIZE = 5_000;
const MAX_PATTERN_CHARS = 8_000;

/**
 * What RE2 reads otherwise than ECMA-262, or not at all: back references, POSIX classes, `\A`, inline flags. A pattern
 * that means something else here would refuse good arguments.
 */
const UNSUPPORTED_SYNTAX = /\\(?:[1-9]|k<|[AzZQEC])|\[\^?\[:|\(\?[a-zA-Z-]/;

/** As ajv uses a RegExp; `toString` is what it tells two apart by. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

interface PatternBudget {
  programSize: number;
  characters: number;
}

export function createPatternBudget(): PatternBudget {
  return { programSize: MAX_PROGRAM_SIZE, characters: MAX_PATTERN_CHARS };
}

/**
 * A pattern on an engine whose time is linear in the text: the platform's own takes 2^40 steps for `^(a|a)*$` and 40
 * characters, and every other call waits meanwhile.
 */
export function createLinearPattern(
  source: string,
  budget: PatternBudget,
  costBudget: CostBudget,
): LinearPattern {
  budget.characters -= source.length;
  if (budget.characters < 0 || UNSUPPORTED_SYNTAX.test(source)) throw new UncheckableSchemaError('pattern');
  // Before it is built, not after. Written so that a size beyond all numbers is refused as well.
  if (!(estimatePatternSize(source) <= budget.programSize)) throw new UncheckableSchemaError('pattern');
  const program = compile(source);
  const size = program.programSize();
  budget.programSize -= size;
  if (budget.programSize < 0) throw new UncheckableSchemaError('pattern');
  return {
    test(text) {
      // Each character costs a step of the automaton, and up to one for each of its states while these are new.
      chargeCost(costBudget, 1 + 2 * text.length + ((text.length * size) >> 1));
      return program.test(text);
    },
    toString: () => source,
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (cause) {
    throw new UncheckableSchemaError('pattern', { cause });
  }
}

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
