import { type JsonRecord, isEqualJson, isRecord } from '../result/json.ts';

/** How many parts one place of a form may be put together from, references that lead in a circle among them. */
const MAX_PARTS = 64;
/** They lead to what only a validator follows. */
const DYNAMIC_REFERENCES = ['$dynamicRef', '$recursiveRef'];

/**
 * A schema with its references followed and its `allOf` merged, at this place alone: what stands below is looked at when
 * it is needed, so a schema that contains itself has no end and does no harm. Undefined where it cannot be done.
 */
export function flattenSchema(root: JsonRecord, schema: unknown): JsonRecord | undefined {
  let remainingParts = MAX_PARTS;

  function flatten(part: unknown): JsonRecord | undefined {
    remainingParts -= 1;
    if (part === true) return {};
    if (!isRecord(part) || remainingParts < 0 || DYNAMIC_REFERENCES.some((name) => Object.hasOwn(part, name)))
      return undefined;
    const { $ref, allOf, ...ownKeywords } = part;
    const parts: JsonRecord[] = [ownKeywords];
    if ($ref !== undefined) {
      const resolved = typeof $ref === 'string' ? flatten(resolveRef(root, $ref)) : undefined;
      if (!resolved) return undefined;
      parts.push(resolved);
    }
    for (const subschema of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      const flattened = flatten(subschema);
      if (!flattened) return undefined;
      parts.push(flattened);
    }
    return parts.length === 1 ? ownKeywords : mergeSchemas(parts);
  }

  return flatten(schema);
}

const MAX_REF_LENGTH = 1_000;

/** What a reference inside the document leads to; undefined where it leads out of it, or to nothing. */
function resolveRef(root: JsonRecord, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref.length > MAX_REF_LENGTH) return undefined;
  let target: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decodeSegment(part);
    if (!isRecord(target) && !Array.isArray(target)) return undefined;
    if (!Object.hasOwn(target, key)) return undefined;
    target = (target as JsonRecord)[key];
  }
  return target;
}

/** A name as it was before it stood in a pointer (RFC 6901, in a fragment). */
function decodeSegment(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // It is no escape then, but part of a name.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

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
