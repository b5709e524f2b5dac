import type { Diagnostic } from '@behalf/contracts';
import { useState } from 'react';
import type { JsonRecord } from '../result/isRecord.ts';
import { createDraft, draftOf } from '../schemaForm/createDraft.ts';
import type { Draft } from '../schemaForm/draft.ts';
import { pathKey, type FieldPath } from '../schemaForm/fieldPath.ts';
import { placeErrors } from '../schemaForm/placeErrors.ts';
import { parseArguments, readArguments } from '../schemaForm/readArguments.ts';
import { readForm, type Form } from '../schemaForm/readForm.ts';
import { keepSame } from './keepSame.ts';

interface State {
  readonly schema: unknown;
  readonly form: Form;
  readonly draft: Draft;
  /** Undefined: the form is shown. */
  readonly json: string | undefined;
  readonly errors: ReadonlyMap<string, string>;
  /** What is wrong and has no field. */
  readonly others: readonly string[];
}

const NO_ERRORS = { errors: new Map<string, string>(), others: [] };

export interface ToolForm extends Omit<State, 'schema'> {
  readonly change: (draft: Draft, path: FieldPath) => void;
  readonly changeJson: (text: string) => void;
  readonly toggleJson: () => void;
  readonly reset: () => void;
  readonly fill: (args: JsonRecord) => void;
  /** The arguments; undefined where something is wrong, which is then shown. */
  readonly submit: () => JsonRecord | undefined;
  /** The arguments as far as they are, for a link or a command. */
  readonly peek: () => JsonRecord;
  /** What the gateway found wrong with the arguments that were sent. */
  readonly refuse: (errors: readonly Diagnostic[]) => void;
}

/** What somebody enters for a tool, as a form or as JSON. */
export function useToolForm(schema: unknown, first: JsonRecord | undefined): ToolForm {
  const [state, setState] = useState<State>(() => begin(schema, first));
  const current = carryOver(state, schema);
  if (current !== state) setState(current);
  const { form, draft, json } = current;
  const set = (facts: Partial<State>) => setState((before) => ({ ...before, ...facts }));

  function submit(): JsonRecord | undefined {
    if (json !== undefined) {
      const parsed = parseArguments(json);
      if ('args' in parsed) {
        set(NO_ERRORS);
        return parsed.args;
      }
      set({ errors: new Map([[pathKey([]), parsed.problem]]), others: [] });
      return undefined;
    }
    const { args, errors } = readArguments(form, draft);
    // Of several things about one field, the first.
    const found = new Map(errors.toReversed().map(({ path, message }) => [pathKey(path), message]));
    set({ errors: found, others: [] });
    return errors.length === 0 ? args : undefined;
  }

  function toggleJson(): void {
    if (json === undefined) {
      set({ ...NO_ERRORS, json: JSON.stringify(readArguments(form, draft).args, null, 2) });
      return;
    }
    const args = submit();
    if (args) set({ ...NO_ERRORS, json: undefined, draft: draftOf(form, args) });
  }

  function peek(): JsonRecord {
    if (json === undefined) return readArguments(form, draft).args;
    const parsed = parseArguments(json);
    return 'args' in parsed ? parsed.args : {};
  }

  function refuse(diagnostics: readonly Diagnostic[]): void {
    setState((before) => {
      const places = before.json === undefined ? readArguments(before.form, before.draft).places : new Map();
      const { fields, others } = placeErrors(places, diagnostics);
      return { ...before, errors: fields, others };
    });
  }

  return {
    ...current,
    submit,
    toggleJson,
    peek,
    refuse,
    change: (next, path) =>
      setState((before) => ({ ...before, draft: next, errors: without(before.errors, path) })),
    changeJson: (text) => set({ ...NO_ERRORS, json: text }),
    reset: () =>
      setState((before) => ({
        ...begin(schema, undefined),
        json: before.json === undefined ? undefined : '{}',
      })),
    fill: (args) => set({ ...NO_ERRORS, json: undefined, draft: draftOf(form, args) }),
  };
}

function begin(schema: unknown, first: JsonRecord | undefined): State {
  const form = readForm(schema);
  const draft = first ? draftOf(form, first) : createDraft(form);
  return { schema, form, draft, json: undefined, ...NO_ERRORS };
}

/** A server may describe its tool anew while somebody fills in the form: what they entered stays. */
function carryOver(state: State, schema: unknown): State {
  if (state.schema === schema) return state;
  if (keepSame(state.schema, schema) === state.schema) return { ...state, schema };
  const { args } = readArguments(state.form, state.draft);
  return { ...begin(schema, args), json: state.json };
}

/** What was wrong at a place is not wrong any more in the same way once something else stands there. */
function without(errors: ReadonlyMap<string, string>, path: FieldPath): ReadonlyMap<string, string> {
  const key = pathKey(path);
  return errors.has(key) ? new Map([...errors].filter(([at]) => at !== key)) : errors;
}
