import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Fuel } from './fuel.ts';
import { payForPart } from './payForPart.ts';
import { fuelKeyword, LONGEST_WRITTEN_OUT, prepareSchema, type PreparedSchema } from './prepareSchema.ts';
import { pricedKeywords } from './pricedKeywords.ts';
import { Uncheckable } from './uncheckable.ts';

/** Enough for every part of 256 KiB of arguments; at most some tens of milliseconds. */
const FUEL = 150_000;
/** The second look names what is wrong: it may find a great many things, and each is an object. */
const FUEL_TO_EXPLAIN = 20_000;

export interface CompiledSchema {
  /** A pattern that no linear engine knows was left out. */
  readonly partial: boolean;
  /** Throws `Uncheckable` when the check costs too much. */
  accepts(value: unknown): boolean;
  /** Everything that is wrong, or the first thing when there is too much of it. */
  problems(value: unknown): readonly ErrorObject[];
}

/** Runs what takes the compiler's time, or throws `Uncheckable` when there is none left for it. */
export type Spend = <T>(work: () => T) => T;

/** Compiles a tool's schema, once for the many calls that are right; the code that explains is made when one is not. */
export function compileSchema(source: unknown, spend: Spend = (work) => work()): CompiledSchema {
  const fuel: Fuel = { left: 0 };
  const [prepared, check] = spend(() => {
    const read = prepareSchema(source, fuel);
    return [read, compile(read, fuel, false)] as const;
  });
  let explain: ReturnType<typeof compile> | undefined;
  return {
    partial: prepared.partial,
    accepts(value) {
      fuel.left = FUEL;
      return run(check, value);
    },
    problems(value) {
      fuel.left = FUEL_TO_EXPLAIN;
      try {
        explain ??= spend(() => compile(prepared, fuel, true));
        run(explain, value);
        return explain.errors ?? [];
      } catch (error) {
        if (!(error instanceof Uncheckable)) throw error;
        fuel.left = FUEL;
        run(check, value);
        return check.errors ?? [];
      }
    },
  };
}

function run(check: (value: unknown) => boolean, value: unknown): boolean {
  try {
    return check(value);
  } catch (cause) {
    // A schema that refers to itself without end overflows the stack before its fuel is gone.
    throw cause instanceof Uncheckable ? cause : new Uncheckable('too_costly', { cause });
  }
}

/**
 * An instance for this schema alone: what one server calls `$id` or `$anchor` must mean nothing in another's schema, and
 * all that compiling leaves behind goes when the check goes.
 */
function compile({ schema, patterns, remembers }: PreparedSchema, fuel: Fuel, explain: boolean) {
  const regExp = Object.assign(
    (source: string) => {
      const pattern = patterns.get(source);
      if (!pattern) throw new Uncheckable('pattern');
      return pattern;
    },
    { code: 'new RegExp' },
  );
  const ajv = new Ajv2020({
    strict: false,
    // Inlining writes a part out wherever it is referred to: a page of schema would become megabytes of code.
    inlineRefs: false,
    loopRequired: LONGEST_WRITTEN_OUT,
    // `prepareSchema` has read every keyword; the meta-schema would cost more than the check itself.
    meta: false,
    validateSchema: false,
    validateFormats: false,
    // Nobody's arguments are refused for what every object inherits.
    ownProperties: true,
    multipleOfPrecision: 8,
    messages: false,
    logger: false,
    allErrors: explain,
    verbose: explain,
    code: { regExp, optimize: false },
  });
  // Which names were evaluated is remembered, and copied from part to part, for two keywords alone.
  ajv.opts.unevaluated = remembers;
  for (const definition of pricedKeywords(fuel)) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
  ajv.addKeyword({
    keyword: fuelKeyword,
    before: '$ref',
    code: (context) => payForPart(context, fuel, remembers),
  });
  try {
    return ajv.compile(schema);
  } catch (cause) {
    throw cause instanceof Uncheckable ? cause : new Uncheckable('not_compilable', { cause });
  }
}
