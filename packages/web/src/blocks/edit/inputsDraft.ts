import type { BlockInput, BlockInputs, Diagnostic } from '@behalf/contracts';
import { isRecord, type JsonRecord } from '../../result/isRecord.ts';
import { createDraft, draftOf } from '../../schemaForm/createDraft.ts';
import type { Draft } from '../../schemaForm/draft.ts';
import { pathKey } from '../../schemaForm/fieldPath.ts';
import type { Property } from '../../schemaForm/formNode.ts';
import { placeErrors, type PlacedErrors } from '../../schemaForm/placeErrors.ts';
import { readArguments } from '../../schemaForm/readArguments.ts';
import { readForm, type Form } from '../../schemaForm/readForm.ts';
import { strings } from '../../strings/strings.ts';

type Value = Exclude<BlockInput, { mode: 'ask' }>['value'];

export const modes = ['ask', 'default', 'fixed'] as const;
export type Mode = (typeof modes)[number];

/** One argument of the tool: what becomes of it, and the value it has unless it is asked for. */
export interface InputRow {
  readonly property: Property;
  readonly mode: Mode;
  readonly draft: Draft;
}

/** What somebody decides about the inputs of a block, while they do. */
export type InputsDraft =
  | {
      readonly kind: 'rows';
      readonly form: Form;
      readonly rows: readonly InputRow[];
      /** Inputs that the tool does not name, or not any more. */
      readonly others: BlockInputs;
    }
  /** The schema is none that has single arguments: the inputs are written as JSON. */
  | { readonly kind: 'raw'; readonly text: string };

export function beginInputs(schema: JsonRecord, inputs: BlockInputs): InputsDraft {
  const form = readForm(schema);
  const { node } = form;
  const empty = createDraft(form);
  const filled = draftOf(form, valuesOf(inputs));
  if (node.kind !== 'object' || empty.kind !== 'object' || filled.kind !== 'object') {
    return { kind: 'raw', text: JSON.stringify(inputs, null, 2) };
  }
  const names = new Set(node.properties.map(({ name }) => name));
  const rows = node.properties.map((property, index): InputRow => {
    const mode = inputOf(inputs, property.name)?.mode ?? 'ask';
    const draft = (mode === 'ask' ? empty : filled).fields[index];
    return { property, mode, draft: draft ?? { kind: 'json', text: '' } };
  });
  const others = Object.fromEntries(Object.entries(inputs).filter(([name]) => !names.has(name)));
  return { kind: 'rows', form, rows, others };
}

function inputOf(inputs: BlockInputs, name: string): BlockInput | undefined {
  return Object.hasOwn(inputs, name) ? inputs[name] : undefined;
}

function valuesOf(inputs: BlockInputs): JsonRecord {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, input]) => (input.mode === 'ask' ? [] : [[name, input.value]])),
  );
}

/** Values of a call that was made by hand: each is proposed. */
export function proposalsOf(args: JsonRecord): BlockInputs {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, { mode: 'default', value: value as Value }]),
  );
}

export interface ReadInputs {
  /** Only good if there are no errors. */
  readonly inputs: BlockInputs;
  /** By the key of their place. */
  readonly errors: ReadonlyMap<string, string>;
}

/** What is to be saved. Whatever is not asked for needs a value, also where the tool does not require one. */
export function readInputs(draft: InputsDraft): ReadInputs {
  if (draft.kind === 'raw') return readRaw(draft.text);
  const { args, errors } = readArguments(...valued(draft));
  const named = draft.rows.map(({ property: { name }, mode }): [string, BlockInput] => [
    name,
    mode === 'ask' ? { mode } : { mode, value: args[name] as Value },
  ]);
  return {
    // Not by assignment: an argument may be called __proto__.
    inputs: Object.fromEntries([...named, ...Object.entries(draft.others)]),
    errors: new Map(errors.toReversed().map(({ path, message }) => [pathKey(path), message])),
  };
}

/** The form of those that have a value, each of them required. */
function valued({ form, rows }: Extract<InputsDraft, { kind: 'rows' }>): [Form, Draft] {
  const kept = rows.filter(({ mode }) => mode !== 'ask');
  const { root, node } = form;
  const properties = kept.map(({ property }) => ({ ...property, isRequired: true }));
  const some = node.kind === 'object' ? { ...node, properties } : node;
  return [
    { root, node: some },
    { kind: 'object', fields: kept.map(({ draft }) => draft), extras: [] },
  ];
}

function readRaw(text: string): ReadInputs {
  const wrong = (message: string) => ({ inputs: {}, errors: new Map([[pathKey([]), message]]) });
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (isRecord(value) && Object.values(value).every(isInput)) {
      return { inputs: value as BlockInputs, errors: new Map() };
    }
    return wrong(strings.blocks.form.rawWrong);
  } catch {
    return wrong(strings.tools.form.errors.json);
  }
}

function isInput(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value['mode'] === 'ask') return Object.keys(value).length === 1;
  return (value['mode'] === 'fixed' || value['mode'] === 'default') && Object.hasOwn(value, 'value');
}

/** What the gateway found wrong with them, at the fields it is about. */
export function placeRefusals(draft: InputsDraft, errors: readonly Diagnostic[]): PlacedErrors {
  const asArguments = errors.map(({ path, ...rest }) => ({
    ...rest,
    path: path.replace(/^inputs/, 'arguments'),
  }));
  const places = draft.kind === 'rows' ? readArguments(...valued(draft)).places : new Map();
  return placeErrors(places, asArguments);
}
