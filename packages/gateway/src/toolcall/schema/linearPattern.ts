import { RE2JS } from 're2js';
import { chargeCost, type CostBudget } from './costBudget.ts';
import { estimatePatternSize } from './patternSize.ts';
import { UncheckableSchemaError } from './uncheckableSchemaError.ts';

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

export interface PatternBudget {
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
