import { type JsonRecord, isEqualJson, isRecord } from '../result/json.ts';

/** Limits the schemas that are merged for one field, because references can be circular. */
const MAX_PARTS = 64;
/** Only a validator can resolve these. */
const DYNAMIC_REFERENCES = ['$dynamicRef', '$recursiveRef'];

/**
 * Resolves `$ref` and merges `allOf` at this level only. Nested schemas are flattened when they are needed, so that
 * a recursive schema terminates. Undefined if it is not possible.
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

/** Resolves a reference within the document; otherwise undefined. */
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

/** Decodes a segment of a JSON Pointer in a fragment (RFC 6901). */
function decodeSegment(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // Not a valid escape sequence, so it is part of the name.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

type MergeKeyword = (one: unknown, other: unknown) => unknown;

/** No value satisfies both, or that cannot be decided. */
const UNMERGEABLE = Symbol('cannot');

const mergeMinimum: MergeKeyword = (a, b) =>
  typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : a;
const mergeMaximum: MergeKeyword = (a, b) =>
  typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : a;
const mergeEqual: MergeKeyword = (a, b) => (isEqualJson(a, b) ? a : UNMERGEABLE);

/** Keywords that affect the form. For all others, the first value is kept; the gateway validates with all of them. */
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

/**
 * Merges schemas that must all be satisfied; undefined if no simple schema is equivalent. Texts of the first schema
 * are kept.
 */
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
