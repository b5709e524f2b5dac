import type { BlockInputs, Diagnostic, MissingInput, SetStep } from '@behalf/contracts';
import { isObject } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/arguments.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { SavedBlock } from './store.ts';

/** The fixed and default values of a block. */
export function collectSavedValues(inputs: BlockInputs): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) => (input.mode === 'ask' ? [] : [[name, input.value]])),
  );
}

/** The errors of the saved values, or null. Inputs that each run provides are not missing here. */
export function validateSavedInputs(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  inputSchema: JsonObject,
  inputs: BlockInputs,
): Diagnostic[] | null {
  const errors = validator.validate(tool, toPartialSchema(inputSchema), collectSavedValues(inputs));
  return (
    errors && errors.map(({ path, ...rest }) => ({ ...rest, path: path.replace(/^arguments/, 'inputs') }))
  );
}

/** BLOCK_INPUTS_INVALID unless every saved value is valid, and the tool has every named input. */
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
 * The part of the schema that concerns one argument at a time. Keywords that relate arguments to each other (`required`,
 * conditions, combinations) apply when the block runs with all arguments. `$defs` stay, because references point there.
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

/** Returns the same object for the same schema, because the validator caches compiled schemas by object. */
const partialSchemas = new WeakMap<JsonObject, JsonObject>();

const singleArgumentKeywords = new Set([
  ...['$schema', '$id', 'id', '$defs', 'definitions', 'type'],
  ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
]);

export function getSchemaProperties({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

/** The property names that the schema requires at its top level. */
export function readRequired({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** The arguments of the tool: the saved values, and the provided ones over the defaults. Fixed values cannot be replaced. */
export function gatherInputs({ inputs }: SavedBlock, provided: JsonObject): JsonObject {
  const isFixed = (name: string) => getOwn(inputs, name)?.mode === 'fixed';
  rejectInputs(Object.keys(provided).filter(isFixed), 'is fixed by the block');
  return { ...collectSavedValues(inputs), ...provided };
}

/** The inputs that a run provides for a step, with the values that the set fixes. A run cannot replace inputs of the set. */
export function mergeStepInputs({ inputs }: Pick<SetStep, 'inputs'>, provided: JsonObject): JsonObject {
  const isSetInput = (name: string) => Object.hasOwn(inputs, name);
  rejectInputs(Object.keys(provided).filter(isSetInput), 'is fixed by the set');
  const fixed = Object.entries(inputs).flatMap(([name, input]) =>
    input.mode === 'fixed' ? [[name, input.value] as const] : [],
  );
  return { ...provided, ...Object.fromEntries(fixed) };
}

function rejectInputs(names: readonly string[], message: string): void {
  if (names.length === 0) return;
  const errors = names.map((name) => ({ path: `inputs.${name}`, code: 'input_fixed', message }));
  throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });
}

/** Does not read properties that objects inherit, such as `constructor`. */
export function getOwn<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The maximum length of titles and descriptions. The server chooses these texts. */
const MAX_TEXT_LENGTH = 1_024;

/** The required arguments without a value, as far as the top level of the schema names them. */
export function findMissingInputs(block: string, inputSchema: JsonObject, args: JsonObject): MissingInput[] {
  const properties = getSchemaProperties(inputSchema);
  return [...new Set(readRequired(inputSchema))]
    .filter((name) => !Object.hasOwn(args, name))
    .map((name) => {
      const property = getOwn(properties, name);
      const { title, description } = isObject(property) ? property : {};
      return {
        block,
        name,
        ...(typeof title === 'string' && { title: title.slice(0, MAX_TEXT_LENGTH) }),
        ...(typeof description === 'string' && { description: description.slice(0, MAX_TEXT_LENGTH) }),
      };
    });
}
