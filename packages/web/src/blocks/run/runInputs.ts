import type { BlockInputs } from '@behalf/contracts';
import { isRecord, type JsonRecord } from '../../result/json.ts';
import { createDraft } from '../../schemaForm/createDraft.ts';
import { collectArguments } from '../../schemaForm/collectArguments.ts';
import { parseForm } from '../../schemaForm/parseNode.ts';

/** Returns the fixed and default inputs of a block, depending on `modes`. */
export function presetValues(inputs: BlockInputs, modes: readonly ('fixed' | 'default')[]): JsonRecord {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) =>
      input.mode !== 'ask' && modes.includes(input.mode) ? [[name, input.value]] : [],
    ),
  );
}

/** Returns the tool's schema without the fixed inputs of the block. */
export function runInputSchema(schema: JsonRecord, inputs: BlockInputs): JsonRecord {
  const isFixed = (name: string) => Object.hasOwn(inputs, name) && inputs[name]?.mode === 'fixed';
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !isFixed(name))),
    }),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name !== 'string' || !isFixed(name)),
    }),
  };
}

/** Returns the initial form values: defaults of the schema, overridden by defaults of the block. */
export function initialRunInputs(schema: JsonRecord, inputs: BlockInputs): JsonRecord {
  const form = parseForm(schema);
  return { ...collectArguments(form, createDraft(form)).args, ...presetValues(inputs, ['default']) };
}
