import type { SchemaDrift } from '@behalf/contracts';
import { stableStringify } from '../registry/stableStringify.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { getSchemaProperties } from './savedInputs.ts';

/** What became of a schema since it was saved; undefined: nothing did. */
export function findSchemaDrift(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): SchemaDrift | undefined {
  if (stableStringify(before) === stableStringify(after)) return undefined;
  const [oldProperties, newProperties] = [
    getSchemaProperties(before ?? {}),
    getSchemaProperties(after ?? {}),
  ];
  const [requiredBefore, requiredAfter] = [readRequired(before), readRequired(after)];
  return {
    added: Object.keys(newProperties).filter((name) => !Object.hasOwn(oldProperties, name)),
    removed: Object.keys(oldProperties).filter((name) => !Object.hasOwn(newProperties, name)),
    changed: Object.keys(newProperties).filter(
      (name) =>
        Object.hasOwn(oldProperties, name) &&
        stableStringify(oldProperties[name]) !== stableStringify(newProperties[name]),
    ),
    required: requiredAfter.filter((name) => !requiredBefore.includes(name)),
    optional: requiredBefore.filter((name) => !requiredAfter.includes(name)),
    other: stableStringify(withoutProperties(before)) !== stableStringify(withoutProperties(after)),
  };
}

function readRequired(schema: JsonObject | undefined): string[] {
  const required = schema?.['required'];
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function withoutProperties(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const { properties: _properties, required: _required, ...others } = schema;
  return others;
}
