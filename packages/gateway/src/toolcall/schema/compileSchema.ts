import { type CodeKeywordDefinition, type ErrorObject, type KeywordCxt, _ } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type CostBudget, UncheckableSchemaError, chargeCost } from './costBudget.ts';
import { MAX_UNROLLED_NAMES, type PreparedSchema, costKeyword, prepareSchema } from './prepareSchema.ts';

/** Enough for 256 KiB of arguments. Takes at most some tens of milliseconds. */
const MAX_CHECK_COST = 150_000;
/** The explaining validation collects all errors, each of them an object. */
const MAX_EXPLAIN_COST = 20_000;

export interface CompiledSchema {
  /** Whether a pattern that RE2 does not support was left out. */
  readonly isPartial: boolean;
  /** Throws `UncheckableSchemaError` if the cost limit is exceeded. */
  accepts(value: unknown): boolean;
  /** All errors, or only the first one if collecting all costs too much. */
  findErrors(value: unknown): readonly ErrorObject[];
}

/** Runs work on the compile time budget of a server. Throws `UncheckableSchemaError` if the budget is used up. */
export type RunMetered = <T>(work: () => T) => T;

/** Compiles the validation of a tool's schema. The explaining variant is compiled at the first invalid call. */
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
    // Unbounded recursion overflows the stack before the cost limit is exceeded.
    throw cause instanceof UncheckableSchemaError
      ? cause
      : new UncheckableSchemaError('too_costly', { cause });
  }
}

/**
 * Uses one Ajv instance per schema, so that `$id` and `$anchor` of one server have no meaning in the schemas of another, and the
 * compiled code is collected with the schema.
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
    // Inlining would expand one page of schema to megabytes of code.
    inlineRefs: false,
    loopRequired: MAX_UNROLLED_NAMES,
    // `prepareSchema` has checked every keyword. Meta-schema validation would cost more than the validation itself.
    meta: false,
    validateSchema: false,
    validateFormats: false,
    // Ignores inherited properties such as `constructor`.
    ownProperties: true,
    multipleOfPrecision: 8,
    messages: false,
    logger: false,
    allErrors: isExplaining,
    verbose: isExplaining,
    code: { regExp, optimize: false },
  });
  // Tracking of evaluated properties is expensive and needed by two keywords only.
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

/** Keywords whose cost grows with the value. Subschemas charge their own cost. */
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
 * Generates the code that charges one evaluation of a subschema. `alwaysChargeKeys` is set if evaluated properties are tracked:
 * then each subschema copies the property names of its inner subschemas.
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
  // Boolean subschemas charge nothing themselves.
  if (costByItems.some((name) => typeof subschema[name] === 'boolean')) {
    gen.code(_`${functionCode(chargeItems)}(${budgetCode}, ${data})`);
  }
}

function chargeText(costBudget: CostBudget, value: unknown): void {
  if (typeof value === 'string') chargeCost(costBudget, value.length >> 5);
}

/** Charges the length of keys too, because Ajv builds the path of each evaluated key. */
function chargeKeys(costBudget: CostBudget, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  let units = 0;
  for (const key in value) units += 1 + (key.length >> 5);
  chargeCost(costBudget, units);
}

function chargeItems(costBudget: CostBudget, value: unknown): void {
  if (Array.isArray(value)) chargeCost(costBudget, value.length);
}

/** Replacements for `const`, `enum` and `uniqueItems` that charge their comparisons. Those of Ajv have unbounded cost. */
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

/** A code keyword that calls a function. A function keyword would make Ajv build the instance path each time. */
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
  // `chargeSubschema` has charged the entries and the text length.
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

/** Linear in the size of the items. Pairwise comparison would be quadratic. */
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
