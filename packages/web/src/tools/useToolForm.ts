import type { Diagnostic } from '@behalf/contracts';
import { useState } from 'react';
import { type JsonRecord, keepIfEqual } from '../result/json.ts';
import { createDraft, draftFromArguments } from '../schemaForm/createDraft.ts';
import type { Draft } from '../schemaForm/formNode.ts';
import { type FieldPath, assignErrors, pathKey } from '../schemaForm/fieldPath.ts';
import { parseArguments, collectArguments } from '../schemaForm/collectArguments.ts';
import { parseForm, type Form } from '../schemaForm/parseNode.ts';

interface FormState {
  readonly schema: unknown;
  readonly form: Form;
  readonly draft: Draft;
  /** Undefined while the form is shown. */
  readonly json: string | undefined;
  readonly errors: ReadonlyMap<string, string>;
  /** Errors without a field. */
  readonly otherErrors: readonly string[];
}

const NO_ERRORS = { errors: new Map<string, string>(), otherErrors: [] };

export interface ToolForm extends Omit<FormState, 'schema'> {
  readonly change: (draft: Draft, path: FieldPath) => void;
  readonly changeJson: (text: string) => void;
  readonly toggleJson: () => void;
  readonly reset: () => void;
  readonly fill: (args: JsonRecord) => void;
  /** The arguments; undefined if there are errors, which are then shown. */
  readonly submit: () => JsonRecord | undefined;
  /** The current arguments for a link or a command, possibly incomplete. */
  readonly currentArguments: () => JsonRecord;
  /** Shows errors that the gateway returned for the sent arguments. */
  readonly showErrors: (errors: readonly Diagnostic[]) => void;
}

/** The input for a tool, as a form or as JSON. */
export function useToolForm(schema: unknown, initialArgs: JsonRecord | undefined): ToolForm {
  const [state, setState] = useState<FormState>(() => createFormState(schema, initialArgs));
  const current = updateSchema(state, schema);
  if (current !== state) setState(current);
  const { form, draft, json } = current;
  const update = (changes: Partial<FormState>) => setState((previous) => ({ ...previous, ...changes }));

  function submit(): JsonRecord | undefined {
    if (json !== undefined) {
      const parsed = parseArguments(json);
      if ('args' in parsed) {
        update(NO_ERRORS);
        return parsed.args;
      }
      update({ errors: new Map([[pathKey([]), parsed.problem]]), otherErrors: [] });
      return undefined;
    }
    const { args, errors } = collectArguments(form, draft);
    // The first error of each field.
    const fieldErrors = new Map(errors.toReversed().map(({ path, message }) => [pathKey(path), message]));
    update({ errors: fieldErrors, otherErrors: [] });
    return errors.length === 0 ? args : undefined;
  }

  function toggleJson(): void {
    if (json === undefined) {
      update({ ...NO_ERRORS, json: JSON.stringify(collectArguments(form, draft).args, null, 2) });
      return;
    }
    const args = submit();
    if (args) update({ ...NO_ERRORS, json: undefined, draft: draftFromArguments(form, args) });
  }

  function currentArguments(): JsonRecord {
    if (json === undefined) return collectArguments(form, draft).args;
    const parsed = parseArguments(json);
    return 'args' in parsed ? parsed.args : {};
  }

  function showErrors(diagnostics: readonly Diagnostic[]): void {
    setState((previous) => {
      const formFields =
        previous.json === undefined ? collectArguments(previous.form, previous.draft).formFields : new Map();
      const { byField, otherErrors } = assignErrors(formFields, diagnostics);
      return { ...previous, errors: byField, otherErrors };
    });
  }

  return {
    ...current,
    submit,
    toggleJson,
    currentArguments,
    showErrors,
    change: (next, path) =>
      setState((previous) => ({ ...previous, draft: next, errors: withoutError(previous.errors, path) })),
    changeJson: (text) => update({ ...NO_ERRORS, json: text }),
    reset: () =>
      setState((previous) => ({
        ...createFormState(schema, undefined),
        json: previous.json === undefined ? undefined : '{}',
      })),
    fill: (args) => update({ ...NO_ERRORS, json: undefined, draft: draftFromArguments(form, args) }),
  };
}

function createFormState(schema: unknown, initialArgs: JsonRecord | undefined): FormState {
  const form = parseForm(schema);
  const draft = initialArgs ? draftFromArguments(form, initialArgs) : createDraft(form);
  return { schema, form, draft, json: undefined, ...NO_ERRORS };
}

/** The server may change a tool's schema while the user fills in the form. The input is kept. */
function updateSchema(state: FormState, schema: unknown): FormState {
  if (state.schema === schema) return state;
  if (keepIfEqual(state.schema, schema) === state.schema) return { ...state, schema };
  const { args } = collectArguments(state.form, state.draft);
  return { ...createFormState(schema, args), json: state.json };
}

/** Removes the error of a field whose value changed. */
function withoutError(errors: ReadonlyMap<string, string>, path: FieldPath): ReadonlyMap<string, string> {
  const key = pathKey(path);
  return errors.has(key) ? new Map([...errors].filter(([at]) => at !== key)) : errors;
}
