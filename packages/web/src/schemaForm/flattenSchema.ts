import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { mergeSchemas } from './mergeSchemas.ts';
import { resolveRef } from './resolveRef.ts';

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
