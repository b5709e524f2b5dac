import { RE2JS } from 're2js';
import { burn, type Fuel } from './fuel.ts';
import { patternSize } from './patternSize.ts';
import { Uncheckable } from './uncheckable.ts';

/** What a schema's patterns may come to altogether: compiling one takes milliseconds for every thousand of these. */
const LARGEST_PROGRAMS = 5_000;
const LONGEST_PATTERNS = 8_000;

/**
 * What RE2 reads otherwise than ECMA-262, or not at all: back references, POSIX classes, `\A`, inline flags. A pattern
 * that means something else here would refuse good arguments.
 */
const READ_OTHERWISE = /\\(?:[1-9]|k<|[AzZQEC])|\[\^?\[:|\(\?[a-zA-Z-]/;

/** As ajv uses a RegExp; `toString` is what it tells two apart by. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

export interface PatternBudget {
  programs: number;
  characters: number;
}

export function patternBudget(): PatternBudget {
  return { programs: LARGEST_PROGRAMS, characters: LONGEST_PATTERNS };
}

/**
 * A pattern on an engine whose time is linear in the text: the platform's own takes 2^40 steps for `^(a|a)*$` and 40
 * characters, and every other call waits meanwhile.
 */
export function linearPattern(source: string, budget: PatternBudget, fuel: Fuel): LinearPattern {
  budget.characters -= source.length;
  if (budget.characters < 0 || READ_OTHERWISE.test(source)) throw new Uncheckable('pattern');
  // Before it is built, not after. Written so that a size beyond all numbers is refused as well.
  if (!(patternSize(source) <= budget.programs)) throw new Uncheckable('pattern');
  const program = compile(source);
  const size = program.programSize();
  budget.programs -= size;
  if (budget.programs < 0) throw new Uncheckable('pattern');
  return {
    test(text) {
      // Each character costs a step of the automaton, and up to one for each of its states while these are new.
      burn(fuel, 1 + 2 * text.length + ((text.length * size) >> 1));
      return program.test(text);
    },
    toString: () => source,
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (cause) {
    throw new Uncheckable('pattern', { cause });
  }
}
