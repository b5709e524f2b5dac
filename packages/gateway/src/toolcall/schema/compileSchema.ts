import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { CostBudget } from './costBudget.ts';
import { chargeSubschema } from './chargeSubschema.ts';
import { costKeyword, MAX_UNROLLED_NAMES, prepareSchema, type PreparedSchema } from './prepareSchema.ts';
import { createMeteredKeywords } from './meteredKeywords.ts';
import { UncheckableSchemaError } from './uncheckableSchemaError.ts';

/** Enough for every part of 256 KiB of arguments; at most some tens of milliseconds. */
const MAX_CHECK_COST = 150_000;
/** The second look names what is wrong: it may find a great many things, and each is an object. */
const MAX_EXPLAIN_COST = 20_000;

export interface CompiledSchema {
  /** A pattern that no linear engine knows was left out. */
  readonly isPartial: boolean;
  /** Throws `Uncheckable` when the check costs too much. */
  accepts(value: unknown): boolean;
  /** Everything that is wrong, or the first thing when there is too much of it. */
  findErrors(value: unknown): readonly ErrorObject[];
}

/** Runs what takes the compiler's time, or throws `Uncheckable` when there is none left for it. */
export type RunMetered = <T>(work: () => T) => T;

/** Compiles a tool's schema, once for the many calls that are right; the code that explains is made when one is not. */
export function compileSchema(source: unknown, runMetered: RunMetered = (work) => work()): CompiledSchema {
  const costBudget: CostBudget = { remaining: 0 };
  const [prepared, runCheck] = runMetered(() => {
    const preparedSchema = prepareSchema(source, costBudget);
    return [preparedSchema, compile(preparedSchema, costBudget, false)] as const;
  });
  let explainCheck: ReturnType<typeof compile> | undefined;
  return {
    isPartial: prepared.isPartial,
    accepts(value) {
      costBudget.remaining = MAX_CHECK_COST;
      return runGuarded(runCheck, value);
    },
    findErrors(value) {
      costBudget.remaining = MAX_EXPLAIN_COST;
      try {
        explainCheck ??= runMetered(() => compile(prepared, costBudget, true));
        runGuarded(explainCheck, value);
        return explainCheck.errors ?? [];
      } catch (error) {
        if (!(error instanceof UncheckableSchemaError)) throw error;
        costBudget.remaining = MAX_CHECK_COST;
        runGuarded(runCheck, value);
        return runCheck.errors ?? [];
      }
    },
  };
}

function runGuarded(runCheck: (value: unknown) => boolean, value: unknown): boolean {
  try {
    return runCheck(value);
  } catch (cause) {
    // A schema that refers to itself without end overflows the stack before its fuel is gone.
    throw cause instanceof UncheckableSchemaError
      ? cause
      : new UncheckableSchemaError('too_costly', { cause });
  }
}

/**
 * An instance for this schema alone: what one server calls `$id` or `$anchor` must mean nothing in another's schema, and
 * all that compiling leaves behind goes when the check goes.
 */
function compile(
  { schema, patterns, tracksEvaluated }: PreparedSchema,
  costBudget: CostBudget,
  isExplaining: boolean,
) {
  const regExp = Object.assign(
    (source: string) => {
      const pattern = patterns.get(source);
      if (!pattern) throw new UncheckableSchemaError('pattern');
      return pattern;
    },
    { code: 'new RegExp' },
  );
  const ajv = new Ajv2020({
    strict: false,
    // Inlining writes a part out wherever it is referred to: a page of schema would become megabytes of code.
    inlineRefs: false,
    loopRequired: MAX_UNROLLED_NAMES,
    // `prepareSchema` has read every keyword; the meta-schema would cost more than the check itself.
    meta: false,
    validateSchema: false,
    validateFormats: false,
    // Nobody's arguments are refused for what every object inherits.
    ownProperties: true,
    multipleOfPrecision: 8,
    messages: false,
    logger: false,
    allErrors: isExplaining,
    verbose: isExplaining,
    code: { regExp, optimize: false },
  });
  // Which names were evaluated is remembered, and copied from part to part, for two keywords alone.
  ajv.opts.unevaluated = tracksEvaluated;
  for (const definition of createMeteredKeywords(costBudget)) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
  ajv.addKeyword({
    keyword: costKeyword,
    before: '$ref',
    code: (context) => chargeSubschema(context, costBudget, tracksEvaluated),
  });
  try {
    return ajv.compile(schema);
  } catch (cause) {
    throw cause instanceof UncheckableSchemaError
      ? cause
      : new UncheckableSchemaError('not_compilable', { cause });
  }
}
