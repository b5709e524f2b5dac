import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { sameJson } from '../result/sameJson.ts';

type Merge = (one: unknown, other: unknown) => unknown;

/** No value satisfies both, or we cannot tell. */
const CANNOT = Symbol('cannot');

const tightestMin: Merge = (a, b) => (typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : a);
const tightestMax: Merge = (a, b) => (typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : a);
const mustAgree: Merge = (a, b) => (sameJson(a, b) ? a : CANNOT);

/** Keywords that decide how a form looks. Of all others the first one stands: the gateway judges by all of them. */
const merges: ReadonlyMap<string, Merge> = new Map<string, Merge>([
  ['type', mergeTypes],
  ['properties', mergeProperties],
  ['required', (a, b) => [...new Set([...list(a), ...list(b)])]],
  ['enum', mergeEnums],
  ['const', mustAgree],
  ['items', mustAgree],
  ['prefixItems', mustAgree],
  ['anyOf', mustAgree],
  ['oneOf', mustAgree],
  ['additionalProperties', (a, b) => (a === false || b === false ? false : a)],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems'].map((name) => [name, tightestMin] as const),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'].map((name) => [name, tightestMax] as const),
]);

/** One schema for what satisfies all of them; undefined where that is not simply said. The words of the first stand. */
export function mergeSchemas(schemas: readonly JsonRecord[]): JsonRecord | undefined {
  const merged = new Map<string, unknown>();
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) {
      if (!merged.has(name)) merged.set(name, value);
      else {
        const both = merges.get(name)?.(merged.get(name), value);
        if (both === CANNOT) return undefined;
        if (both !== undefined) merged.set(name, both);
      }
    }
  }
  return Object.fromEntries(merged);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const ours = typeof a === 'string' ? [a] : list(a);
  const theirs = new Set(typeof b === 'string' ? [b] : list(b));
  const both = ours.flatMap((type) => {
    if (theirs.has(type)) return [type];
    if (type === 'integer' && theirs.has('number')) return [type];
    return type === 'number' && theirs.has('integer') ? ['integer'] : [];
  });
  return both.length === 0 ? CANNOT : both.length === 1 ? both[0] : both;
}

function mergeProperties(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return CANNOT;
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b)) {
    merged.set(name, merged.has(name) ? { allOf: [merged.get(name), schema] } : schema);
  }
  return Object.fromEntries(merged);
}

function mergeEnums(a: unknown, b: unknown): unknown {
  const theirs = list(b);
  const both = list(a).filter((value) => theirs.some((other) => sameJson(value, other)));
  return both.length === 0 ? CANNOT : both;
}
