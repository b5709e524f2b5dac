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

/** Argument of the tool with its mode. `draft` is its value, unless the mode is `ask`. */
export interface InputRow {
  readonly property: ObjectProperty;
  readonly mode: InputMode;
  readonly draft: Draft;
}

/** Edited inputs of a block. */
export type InputsDraft =
  | {
      readonly kind: 'rows';
      readonly form: Form;
      readonly rows: readonly InputRow[];
      /** Inputs that the current schema of the tool does not contain. */
      readonly undeclared: BlockInputs;
    }
  /** The schema has no separate properties, so the user edits the inputs as JSON. */
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

/** Converts the arguments of a manual call to default inputs. */
export function toDefaultInputs(args: JsonRecord): BlockInputs {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, { mode: 'default', value: value as InputValue }]),
  );
}

interface ParsedInputs {
  /** Valid only if `errors` is empty. */
  readonly inputs: BlockInputs;
  /** Messages by `pathKey`. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Parses the draft for saving. Each input needs a value unless its mode is `ask`, even if it is optional. */
export function parseInputs(draft: InputsDraft): ParsedInputs {
  if (draft.kind === 'raw') return parseRawInputs(draft.text);
  const { args, errors } = collectArguments(...formOfValues(draft));
  const namedInputs = draft.rows.map(({ property: { name }, mode }): [string, BlockInput] => [
    name,
    mode === 'ask' ? { mode } : { mode, value: args[name] as InputValue },
  ]);
  return {
    // `fromEntries` instead of assignment: an argument may be named `__proto__`.
    inputs: Object.fromEntries([...namedInputs, ...Object.entries(draft.undeclared)]),
    errors: new Map(errors.toReversed().map(({ path, message }) => [pathKey(path), message])),
  };
}

/** Returns the form of the inputs with a value, with all of them required. */
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

/** Assigns the gateway's errors to the fields of the form. */
export function assignInputErrors(draft: InputsDraft, errors: readonly Diagnostic[]): AssignedErrors {
  const argumentErrors = errors.map(({ path, ...rest }) => ({
    ...rest,
    path: path.replace(/^inputs/, 'arguments'),
  }));
  const formFields = draft.kind === 'rows' ? collectArguments(...formOfValues(draft)).formFields : new Map();
  return assignErrors(formFields, argumentErrors);
}
