import type { MissingInput } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { getSchemaProperties, collectSavedValues } from './savedInputs.ts';
import type { SavedBlock } from './sealedBlocks.ts';

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
