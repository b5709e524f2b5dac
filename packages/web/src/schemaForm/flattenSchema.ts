import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { mergeSchemas } from './mergeSchemas.ts';
import { resolveRef } from './resolveRef.ts';

/** How many parts one place of a form may be put together from, references that lead in a circle among them. */
const MOST_PARTS = 64;
/** They lead to what only a validator follows. */
const DYNAMIC = ['$dynamicRef', '$recursiveRef'];

/**
 * A schema with its references followed and its `allOf` merged, at this place alone: what stands below is looked at when
 * it is needed, so a schema that contains itself has no end and does no harm. Undefined where it cannot be done.
 */
export function flattenSchema(root: JsonRecord, schema: unknown): JsonRecord | undefined {
  let left = MOST_PARTS;

  function flatten(part: unknown): JsonRecord | undefined {
    left -= 1;
    if (part === true) return {};
    if (!isRecord(part) || left < 0 || DYNAMIC.some((name) => Object.hasOwn(part, name))) return undefined;
    const { $ref, allOf, ...own } = part;
    const parts: JsonRecord[] = [own];
    if ($ref !== undefined) {
      const found = typeof $ref === 'string' ? flatten(resolveRef(root, $ref)) : undefined;
      if (!found) return undefined;
      parts.push(found);
    }
    for (const one of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      const flat = flatten(one);
      if (!flat) return undefined;
      parts.push(flat);
    }
    return parts.length === 1 ? own : mergeSchemas(parts);
  }

  return flatten(schema);
}
