import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { burn, type Fuel } from './fuel.ts';

/**
 * `const`, `enum` and `uniqueItems` as the specification means them, paying for what they compare. The compiler's own
 * compare as much as the schema and the arguments hold, as often as the schema asks for it, for nothing.
 */
export function pricedKeywords(fuel: Fuel): CodeKeywordDefinition[] {
  return [
    priced('const', 'allowedValue', (value, wanted) => isEqual(value, wanted, fuel)),
    priced('enum', 'allowedValues', (value, wanted) => isOneOf(value, wanted as unknown[], fuel)),
    {
      ...priced('uniqueItems', 'wanted', (items, wanted) => !wanted || areUnique(items as unknown[], fuel)),
      type: 'array',
    },
  ];
}

/** Written as code that calls a function: a function keyword would be handed the whole path, written out each time. */
function priced(
  keyword: string,
  param: string,
  holds: (value: unknown, wanted: unknown) => boolean,
): CodeKeywordDefinition {
  return {
    keyword,
    error: { message: keyword, params: ({ schemaCode }) => _`{[${param}]: ${schemaCode}}` },
    code(context: KeywordCxt) {
      const judge = context.gen.scopeValue('func', { ref: holds });
      context.fail(_`!${judge}(${context.data}, ${context.schemaCode})`);
    },
  };
}

function isOneOf(value: unknown, allowed: readonly unknown[], fuel: Fuel): boolean {
  // The entries and the length of a text are paid for with the part itself.
  return allowed.some((one) => one === value || (isStructured(one) && isEqual(value, one, fuel)));
}

/** Deep equality of two JSON values. */
function isEqual(a: unknown, b: unknown, fuel: Fuel): boolean {
  burn(fuel, 1 + (typeof a === 'string' ? a.length >> 5 : 0));
  if (!isStructured(a) || !isStructured(b)) return a === b;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index], fuel))
    );
  }
  if (Array.isArray(b)) return false;
  const [inA, inB] = [Object.keys(a), Object.keys(b)];
  burn(fuel, inA.length + inB.length);
  return (
    inA.length === inB.length && inA.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key], fuel))
  );
}

/** Linear in the size of the items, where comparing each with each is not. */
function areUnique(items: readonly unknown[], fuel: Fuel): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = JSON.stringify(item, sorted);
    burn(fuel, 1 + (text.length >> 2));
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

function sorted(_key: string, value: unknown): unknown {
  if (!isStructured(value) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isStructured(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
