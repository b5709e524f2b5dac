import type { JsonObject } from '@behalf/gateway';

/** Arguments that fit a tool's schema as far as its properties have plain types. */
export function sampleArguments(schema: JsonObject): JsonObject {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, JsonObject>> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, createSample(property)]),
  );
}

function createSample({ type, enum: enumValues, default: defaultValue }: JsonObject): unknown {
  if (defaultValue !== undefined) return defaultValue;
  if (Array.isArray(enumValues)) return enumValues[0] as unknown;
  switch (type) {
    case 'number':
    case 'integer':
      return 2;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'text';
  }
}
