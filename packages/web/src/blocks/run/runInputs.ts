import type { BlockInputs } from '@behalf/contracts';
import { isRecord, type JsonRecord } from '../../result/json.ts';
import { createDraft } from '../../schemaForm/createDraft.ts';
import { collectArguments } from '../../schemaForm/collectArguments.ts';
import { parseForm } from '../../schemaForm/parseNode.ts';

/** What a block brings by itself: whatever it fixes, and what it proposes. */
export function presetValues(inputs: BlockInputs, modes: readonly ('fixed' | 'default')[]): JsonRecord {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) =>
      input.mode !== 'ask' && modes.includes(input.mode) ? [[name, input.value]] : [],
    ),
  );
}

/** The schema of what a run brings: all of the tool's, without what the block fixes. */
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

/** What the form of a run begins with: what the schema fills in, and over it what the block proposes. */
export function initialRunInputs(schema: JsonRecord, inputs: BlockInputs): JsonRecord {
  const form = parseForm(schema);
  return { ...collectArguments(form, createDraft(form)).args, ...presetValues(inputs, ['default']) };
}
