import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { isEqualJson } from '../result/isEqualJson.ts';

type MergeKeyword = (one: unknown, other: unknown) => unknown;

/** No value satisfies both, or we cannot tell. */
const UNMERGEABLE = Symbol('cannot');

const mergeMinimum: MergeKeyword = (a, b) =>
  typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : a;
const mergeMaximum: MergeKeyword = (a, b) =>
  typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : a;
const mergeEqual: MergeKeyword = (a, b) => (isEqualJson(a, b) ? a : UNMERGEABLE);

/** Keywords that decide how a form looks. Of all others the first one stands: the gateway judges by all of them. */
const keywordMergers: ReadonlyMap<string, MergeKeyword> = new Map<string, MergeKeyword>([
  ['type', mergeTypes],
  ['properties', mergeProperties],
  ['required', (a, b) => [...new Set([...toArray(a), ...toArray(b)])]],
  ['enum', mergeEnums],
  ['const', mergeEqual],
  ['items', mergeEqual],
  ['prefixItems', mergeEqual],
  ['anyOf', mergeEqual],
  ['oneOf', mergeEqual],
  ['additionalProperties', (a, b) => (a === false || b === false ? false : a)],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems'].map((name) => [name, mergeMinimum] as const),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'].map((name) => [name, mergeMaximum] as const),
]);

/** One schema for what satisfies all of them; undefined where that is not simply said. The words of the first stand. */
export function mergeSchemas(schemas: readonly JsonRecord[]): JsonRecord | undefined {
  const merged = new Map<string, unknown>();
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) {
      if (!merged.has(name)) merged.set(name, value);
      else {
        const both = keywordMergers.get(name)?.(merged.get(name), value);
        if (both === UNMERGEABLE) return undefined;
        if (both !== undefined) merged.set(name, both);
      }
    }
  }
  return Object.fromEntries(merged);
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const ours = typeof a === 'string' ? [a] : toArray(a);
  const theirs = new Set(typeof b === 'string' ? [b] : toArray(b));
  const both = ours.flatMap((type) => {
    if (theirs.has(type)) return [type];
    if (type === 'integer' && theirs.has('number')) return [type];
    return type === 'number' && theirs.has('integer') ? ['integer'] : [];
  });
  return both.length === 0 ? UNMERGEABLE : both.length === 1 ? both[0] : both;
}

function mergeProperties(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return UNMERGEABLE;
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b)) {
    merged.set(name, merged.has(name) ? { allOf: [merged.get(name), schema] } : schema);
  }
  return Object.fromEntries(merged);
}

function mergeEnums(a: unknown, b: unknown): unknown {
  const theirs = toArray(b);
  const both = toArray(a).filter((value) => theirs.some((other) => isEqualJson(value, other)));
  return both.length === 0 ? UNMERGEABLE : both;
}
