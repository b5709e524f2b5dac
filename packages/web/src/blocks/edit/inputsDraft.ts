import type { BlockInput, BlockInputs, Diagnostic } from '@behalf/contracts';
import { isRecord, type JsonRecord } from '../../result/json.ts';
import { createDraft, draftFromArguments } from '../../schemaForm/createDraft.ts';
import type { Draft, ObjectProperty } from '../../schemaForm/formNode.ts';
import { type AssignedErrors, assignErrors, pathKey } from '../../schemaForm/fieldPath.ts';
import { collectArguments } from '../../schemaForm/collectArguments.ts';
import { parseForm, type Form } from '../../schemaForm/parseNode.ts';
import { strings } from '../../strings/strings.ts';

type InputValue = Exclude<BlockInput, { mode: 'ask' }>['value'];

export const inputModes = ['ask', 'default', 'fixed'] as const;
type InputMode = (typeof inputModes)[number];

/** One argument of the tool: what becomes of it, and the value it has unless it is asked for. */
export interface InputRow {
  readonly property: ObjectProperty;
  readonly mode: InputMode;
  readonly draft: Draft;
}

/** What somebody decides about the inputs of a block, while they do. */
export type InputsDraft =
  | {
      readonly kind: 'rows';
      readonly form: Form;
      readonly rows: readonly InputRow[];
      /** Inputs that the tool does not name, or not any more. */
      readonly undeclared: BlockInputs;
    }
  /** The schema is none that has single arguments: the inputs are written as JSON. */
  | { readonly kind: 'raw'; readonly text: string };

export function createInputsDraft(schema: JsonRecord, inputs: BlockInputs): InputsDraft {
  const form = parseForm(schema);
  const { node } = form;
  const emptyDraft = createDraft(form);
  const filledDraft = draftFromArguments(form, inputValues(inputs));
  if (node.kind !== 'object' || emptyDraft.kind !== 'object' || filledDraft.kind !== 'object') {
    return { kind: 'raw', text: JSON.stringify(inputs, null, 2) };
  }
  const names = new Set(node.properties.map(({ name }) => name));
  const rows = node.properties.map((property, index): InputRow => {
    const mode = findInput(inputs, property.name)?.mode ?? 'ask';
    const draft = (mode === 'ask' ? emptyDraft : filledDraft).fields[index];
    return { property, mode, draft: draft ?? { kind: 'json', text: '' } };
  });
  const undeclared = Object.fromEntries(Object.entries(inputs).filter(([name]) => !names.has(name)));
  return { kind: 'rows', form, rows, undeclared };
}

function findInput(inputs: BlockInputs, name: string): BlockInput | undefined {
  return Object.hasOwn(inputs, name) ? inputs[name] : undefined;
}

function inputValues(inputs: BlockInputs): JsonRecord {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) => (input.mode === 'ask' ? [] : [[name, input.value]])),
  );
}

/** Values of a call that was made by hand: each is proposed. */
export function toDefaultInputs(args: JsonRecord): BlockInputs {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, { mode: 'default', value: value as InputValue }]),
  );
}

interface ParsedInputs {
  /** Only good if there are no errors. */
  readonly inputs: BlockInputs;
  /** By the key of their place. */
  readonly errors: ReadonlyMap<string, string>;
}

/** What is to be saved. Whatever is not asked for needs a value, also where the tool does not require one. */
export function parseInputs(draft: InputsDraft): ParsedInputs {
  if (draft.kind === 'raw') return parseRawInputs(draft.text);
  const { args, errors } = collectArguments(...formOfValues(draft));
  const namedInputs = draft.rows.map(({ property: { name }, mode }): [string, BlockInput] => [
    name,
    mode === 'ask' ? { mode } : { mode, value: args[name] as InputValue },
  ]);
  return {
    // Not by assignment: an argument may be called __proto__.
    inputs: Object.fromEntries([...namedInputs, ...Object.entries(draft.undeclared)]),
    errors: new Map(errors.toReversed().map(({ path, message }) => [pathKey(path), message])),
  };
}

/** The form of those that have a value, each of them required. */
function formOfValues({ form, rows }: Extract<InputsDraft, { kind: 'rows' }>): [Form, Draft] {
  const rowsWithValue = rows.filter(({ mode }) => mode !== 'ask');
  const { root, node } = form;
  const properties = rowsWithValue.map(({ property }) => ({ ...property, isRequired: true }));
  const valuesNode = node.kind === 'object' ? { ...node, properties } : node;
  return [
    { root, node: valuesNode },
    { kind: 'object', fields: rowsWithValue.map(({ draft }) => draft), extras: [] },
  ];
}

function parseRawInputs(text: string): ParsedInputs {
  const fail = (message: string) => ({ inputs: {}, errors: new Map([[pathKey([]), message]]) });
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (isRecord(value) && Object.values(value).every(isBlockInput)) {
      return { inputs: value as BlockInputs, errors: new Map() };
    }
    return fail(strings.blocks.form.jsonInputsInvalid);
  } catch {
    return fail(strings.tools.form.errors.json);
  }
}

function isBlockInput(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value['mode'] === 'ask') return Object.keys(value).length === 1;
  return (value['mode'] === 'fixed' || value['mode'] === 'default') && Object.hasOwn(value, 'value');
}

/** What the gateway found wrong with them, at the fields it is about. */
export function assignInputErrors(draft: InputsDraft, errors: readonly Diagnostic[]): AssignedErrors {
  const argumentErrors = errors.map(({ path, ...rest }) => ({
    ...rest,
    path: path.replace(/^inputs/, 'arguments'),
  }));
  const formFields = draft.kind === 'rows' ? collectArguments(...formOfValues(draft)).formFields : new Map();
  return assignErrors(formFields, argumentErrors);
}
