import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { chargeCost, type CostBudget } from './costBudget.ts';

/**
 * `const`, `enum` and `uniqueItems` as the specification means them, paying for what they compare. The compiler's own
 * compare as much as the schema and the arguments hold, as often as the schema asks for it, for nothing.
 */
export function createMeteredKeywords(costBudget: CostBudget): CodeKeywordDefinition[] {
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
