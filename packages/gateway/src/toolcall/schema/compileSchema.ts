import { type CodeKeywordDefinition, type ErrorObject, type KeywordCxt, _ } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type CostBudget, UncheckableSchemaError, chargeCost } from './costBudget.ts';
import { MAX_UNROLLED_NAMES, type PreparedSchema, costKeyword, prepareSchema } from './prepareSchema.ts';

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

/** Keywords whose cost grows with the value, beside the parts inside, which pay for themselves one by one. */
const costByKeys = [
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
];
const costByLength = ['minLength', 'maxLength', 'enum', 'const'];
const costByItems = ['items', 'contains', 'unevaluatedItems'];

/**
 * Writes the payment for one evaluation of one part into its code. `alwaysChargeKeys`: where what was evaluated is remembered,
 * every part copies the names that the parts inside it saw.
 */
function chargeSubschema(
  { gen, data, parentSchema, schema }: KeywordCxt,
  costBudget: CostBudget,
  alwaysChargeKeys: boolean,
) {
  const subschema = parentSchema as Readonly<Record<string, unknown>>;
  const budgetCode = gen.scopeValue('obj', { ref: costBudget });
  const functionCode = (ref: (costBudget: CostBudget, value: never) => void) =>
    gen.scopeValue('func', { ref });
  const hasKeyword = (names: readonly string[]) => names.some((name) => name in subschema);
  gen.code(_`${functionCode(chargeCost)}(${budgetCode}, ${schema as number})`);
  if (hasKeyword(costByLength)) gen.code(_`${functionCode(chargeText)}(${budgetCode}, ${data})`);
  if (alwaysChargeKeys || hasKeyword(costByKeys))
    gen.code(_`${functionCode(chargeKeys)}(${budgetCode}, ${data})`);
  // A part that is just `true` or `false` pays nothing itself, however many items it is tried on.
  if (costByItems.some((name) => typeof subschema[name] === 'boolean')) {
    gen.code(_`${functionCode(chargeItems)}(${budgetCode}, ${data})`);
  }
}

function chargeText(costBudget: CostBudget, value: unknown): void {
  if (typeof value === 'string') chargeCost(costBudget, value.length >> 5);
}

/** With their length: the path to each is written out when it is evaluated. */
function chargeKeys(costBudget: CostBudget, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  let units = 0;
  for (const key in value) units += 1 + (key.length >> 5);
  chargeCost(costBudget, units);
}

function chargeItems(costBudget: CostBudget, value: unknown): void {
  if (Array.isArray(value)) chargeCost(costBudget, value.length);
}

/**
 * `const`, `enum` and `uniqueItems` as the specification means them, paying for what they compare. The compiler's own
 * compare as much as the schema and the arguments hold, as often as the schema asks for it, for nothing.
 */
function createMeteredKeywords(costBudget: CostBudget): CodeKeywordDefinition[] {
  return [
    createMeteredKeyword('const', 'allowedValue', (value, expected) => isEqual(value, expected, costBudget)),
    createMeteredKeyword('enum', 'allowedValues', (value, expected) =>
      isAllowedValue(value, expected as unknown[], costBudget),
    ),
    {
      ...createMeteredKeyword(
        'uniqueItems',
        'wanted',
        (items, expected) => !expected || hasUniqueItems(items as unknown[], costBudget),
      ),
      type: 'array',
    },
  ];
}

/** Written as code that calls a function: a function keyword would be handed the whole path, written out each time. */
function createMeteredKeyword(
  keyword: string,
  param: string,
  predicate: (value: unknown, expected: unknown) => boolean,
): CodeKeywordDefinition {
  return {
    keyword,
    error: { message: keyword, params: ({ schemaCode }) => _`{[${param}]: ${schemaCode}}` },
    code(context: KeywordCxt) {
      const predicateCode = context.gen.scopeValue('func', { ref: predicate });
      context.fail(_`!${predicateCode}(${context.data}, ${context.schemaCode})`);
    },
  };
}

function isAllowedValue(value: unknown, allowed: readonly unknown[], costBudget: CostBudget): boolean {
  // The entries and the length of a text are paid for with the part itself.
  return allowed.some(
    (allowedValue) =>
      allowedValue === value || (isStructured(allowedValue) && isEqual(value, allowedValue, costBudget)),
  );
}

/** Deep equality of two JSON values. */
function isEqual(a: unknown, b: unknown, costBudget: CostBudget): boolean {
  chargeCost(costBudget, 1 + (typeof a === 'string' ? a.length >> 5 : 0));
  if (!isStructured(a) || !isStructured(b)) return a === b;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isEqual(item, b[index], costBudget))
    );
  }
  if (Array.isArray(b)) return false;
  const [keysA, keysB] = [Object.keys(a), Object.keys(b)];
  chargeCost(costBudget, keysA.length + keysB.length);
  return (
    keysA.length === keysB.length &&
    keysA.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key], costBudget))
  );
}

/** Linear in the size of the items, where comparing each with each is not. */
function hasUniqueItems(items: readonly unknown[], costBudget: CostBudget): boolean {
  const seenItems = new Set<string>();
  for (const item of items) {
    const text = JSON.stringify(item, sortKeys);
    chargeCost(costBudget, 1 + (text.length >> 2));
    if (seenItems.has(text)) return false;
    seenItems.add(text);
  }
  return true;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isStructured(value) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isStructured(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
