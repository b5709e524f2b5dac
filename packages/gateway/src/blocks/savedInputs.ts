import type { BlockInputs, Diagnostic } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/validateArguments.ts';

/** What a block brings by itself: whatever it fixes, and what it proposes. */
export function collectSavedValues(inputs: BlockInputs): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) => (input.mode === 'ask' ? [] : [[name, input.value]])),
  );
}

/** What is wrong with saved values for this schema, or null. What a run will bring is not there yet, and not missed. */
export function validateSavedInputs(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  inputSchema: JsonObject,
  inputs: BlockInputs,
): Diagnostic[] | null {
  const values = collectSavedValues(inputs);
  const errors = validator.validate(tool, toPartialSchema(inputSchema), values);
  return (
    errors && errors.map(({ path, ...rest }) => ({ ...rest, path: path.replace(/^arguments/, 'inputs') }))
  );
}

/** BLOCK_INPUTS_INVALID unless every saved value fits its part of the schema, and every named input is one of the tool's. */
export function requireValidInputs(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  inputSchema: JsonObject,
  inputs: BlockInputs,
): void {
  const properties = getSchemaProperties(inputSchema);
  const forbidsAdditionalProperties = inputSchema['additionalProperties'] === false;
  const unknownNames = Object.keys(inputs).filter(
    (name) => forbidsAdditionalProperties && inputs[name]?.mode === 'ask' && !Object.hasOwn(properties, name),
  );
  const errors = [
    ...unknownNames.map((name) => ({
      path: `inputs.${name}`,
      code: 'unknown_field',
      message: 'is not a field of this tool.',
    })),
    ...(validateSavedInputs(validator, tool, inputSchema, inputs) ?? []),
  ];
  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });
}

/**
 * The schema as far as it speaks of one argument at a time. What asks for others beside it (`required`, a condition, a choice
 * of forms) is asked when there are others: when the block runs. Definitions stay where references find them.
 */
function toPartialSchema(schema: JsonObject): JsonObject {
  const cached = partialSchemas.get(schema);
  if (cached) return cached;
  const partial = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => singleArgumentKeywords.has(keyword)),
  );
  partialSchemas.set(schema, partial);
  return partial;
}

/** The same object for the same schema: what was compiled of it is found by it. */
const partialSchemas = new WeakMap<JsonObject, JsonObject>();

const singleArgumentKeywords = new Set([
  '$schema',
  '$id',
  'id',
  '$defs',
  'definitions',
  'type',
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
]);

export function getSchemaProperties(schema: JsonObject): JsonObject {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties)
    ? (properties as JsonObject)
    : {};
}
