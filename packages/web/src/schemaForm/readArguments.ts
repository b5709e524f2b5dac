import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import type { Draft } from './draft.ts';
import type { Places } from './placeErrors.ts';
import { readDraft, type FieldError } from './readDraft.ts';
import type { Form } from './readForm.ts';

export interface ReadArguments {
  /** Only good if there are no errors. */
  readonly args: JsonRecord;
  readonly errors: readonly FieldError[];
  readonly places: Places;
}

/** The arguments that a form says. */
export function readArguments(form: Form, draft: Draft): ReadArguments {
  const { value = {}, errors, places } = readDraft(form, draft);
  if (isRecord(value)) return { args: value, errors, places };
  return { args: {}, errors: [...errors, { path: [], message: strings.tools.form.errors.object }], places };
}

/** The arguments that somebody wrote as JSON; nothing at all is an empty object. */
export function parseArguments(text: string): { readonly args: JsonRecord } | { readonly problem: string } {
  const words = strings.tools.form.errors;
  if (text.trim() === '') return { args: {} };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { args: value } : { problem: words.object };
  } catch {
    return { problem: words.json };
  }
}
