import { RE2JS } from 're2js';
import { type CostBudget, UncheckableSchemaError, chargeCost } from './costBudget.ts';

/** Limit of the states of all patterns of a schema. Compiling takes some milliseconds per thousand states. */
const MAX_PROGRAM_SIZE = 5_000;
const MAX_PATTERN_CHARS = 8_000;

/** Syntax that RE2 lacks or reads differently than ECMA-262. Such a pattern would reject valid arguments. */
const UNSUPPORTED_SYNTAX = /\\(?:[1-9]|k<|[AzZQEC])|\[\^?\[:|\(\?[a-zA-Z-]/;

/** The part of RegExp that Ajv uses. Ajv compares patterns by `toString`. */
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
 * Compiles a pattern with RE2, whose time is linear in the text. The built-in engine backtracks: `^(a|a)*$` takes 2^40 steps for
 * 40 characters and blocks the event loop (ReDoS).
 */
export function createLinearPattern(
  source: string,
  budget: PatternBudget,
  costBudget: CostBudget,
): LinearPattern {
  budget.characters -= source.length;
  if (budget.characters < 0 || UNSUPPORTED_SYNTAX.test(source)) throw new UncheckableSchemaError('pattern');
  // Checked before the automaton is built. The negation also rejects NaN and Infinity.
  if (!(estimatePatternSize(source) <= budget.programSize)) throw new UncheckableSchemaError('pattern');
  const program = compile(source);
  const size = program.programSize();
  budget.programSize -= size;
  if (budget.programSize < 0) throw new UncheckableSchemaError('pattern');
  return {
    test(text) {
      // Each character costs one step, and up to one per state while RE2 builds its DFA.
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
 * Estimates the number of states from the pattern text, because building them is expensive. Counted repetitions are unrolled, and
 * nested ones multiply. The estimate of an invalid pattern does not matter: RE2 rejects it.
 */
export function estimatePatternSize(source: string): number {
  const outerSizes: number[] = [];
  let size = 0;
  /** Size of the term that the next repetition repeats. */
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

/** The next token. For a counted repetition, also how often the previous term is unrolled. */
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
      // Each optional repetition is a choice of two states. `{n,}` ends in a loop.
      return [repetition[0], Math.max(1, minCount + 2 * Math.max(0, maxCount - minCount))];
    }
    default:
      return [source[position] as string];
  }
}
