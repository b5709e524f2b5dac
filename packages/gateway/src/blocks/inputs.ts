import type { BlockInputs, Diagnostic, MissingInput } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/arguments.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { SavedBlock } from './store.ts';

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

/** The tool's arguments: what the run brings over what the block proposes. What is fixed is nobody's to change. */
export function gatherInputs({ inputs }: SavedBlock, provided: JsonObject): JsonObject {
  const errors = Object.keys(provided)
    .filter((name) => Object.hasOwn(inputs, name) && inputs[name]?.mode === 'fixed')
    .map((name) => ({ path: `inputs.${name}`, code: 'input_fixed', message: 'is fixed by the block' }));
  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });
  return { ...collectSavedValues(inputs), ...provided };
}

/** Long enough to say what a field is for; a server may say anything at any length. */
const MAX_TEXT_LENGTH = 1_024;

/** What the tool requires and nobody brought, as far as the schema says so at its top. */
export function findMissingInputs(block: string, inputSchema: JsonObject, args: JsonObject): MissingInput[] {
  const { required } = inputSchema;
  const properties = getSchemaProperties(inputSchema);
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return [...new Set(names)]
    .filter((name) => !Object.hasOwn(args, name))
    .map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const { title, description } = (
        typeof property === 'object' && property !== null ? property : {}
      ) as JsonObject;
      return {
        block,
        name,
        ...(typeof title === 'string' && { title: title.slice(0, MAX_TEXT_LENGTH) }),
        ...(typeof description === 'string' && { description: description.slice(0, MAX_TEXT_LENGTH) }),
      };
    });
}
