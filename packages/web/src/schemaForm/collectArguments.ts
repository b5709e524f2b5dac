import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import type { Draft } from './draft.ts';
import type { FormFields } from './assignErrors.ts';
import { collectValue, type FieldError } from './collectValue.ts';
import type { Form } from './parseForm.ts';

export interface CollectedArguments {
  /** Only good if there are no errors. */
  readonly args: JsonRecord;
  readonly errors: readonly FieldError[];
  readonly formFields: FormFields;
}

/** The arguments that a form says. */
export function collectArguments(form: Form, draft: Draft): CollectedArguments {
  const { value = {}, errors, formFields } = collectValue(form, draft);
  if (isRecord(value)) return { args: value, errors, formFields };
  return {
    args: {},
    errors: [...errors, { path: [], message: strings.tools.form.errors.object }],
    formFields,
  };
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
