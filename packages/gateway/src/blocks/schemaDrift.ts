import type { SchemaDrift } from '@behalf/contracts';
import { stableText } from '../registry/stableText.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { propertiesOf } from './savedInputs.ts';

/** What became of a schema since it was saved; undefined: nothing did. */
export function schemaDrift(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): SchemaDrift | undefined {
  if (stableText(before) === stableText(after)) return undefined;
  const [old, now] = [propertiesOf(before ?? {}), propertiesOf(after ?? {})];
  const [wanted, wants] = [requiredOf(before), requiredOf(after)];
  return {
    added: Object.keys(now).filter((name) => !Object.hasOwn(old, name)),
    removed: Object.keys(old).filter((name) => !Object.hasOwn(now, name)),
    changed: Object.keys(now).filter(
      (name) => Object.hasOwn(old, name) && stableText(old[name]) !== stableText(now[name]),
    ),
    required: wants.filter((name) => !wanted.includes(name)),
    optional: wanted.filter((name) => !wants.includes(name)),
    other: stableText(rest(before)) !== stableText(rest(after)),
  };
}

function requiredOf(schema: JsonObject | undefined): string[] {
  const required = schema?.['required'];
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function rest(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const { properties: _properties, required: _required, ...others } = schema;
  return others;
}
