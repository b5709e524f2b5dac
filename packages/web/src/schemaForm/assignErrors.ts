import type { Diagnostic } from '@behalf/contracts';
import { strings } from '../strings/strings.ts';
import { pathKey, parsePath } from './fieldPath.ts';

/** Whether a place of the form holds everything below it, as JSON. */
export type FormFields = ReadonlyMap<string, { readonly holdsSubtree: boolean }>;

export interface AssignedErrors {
  /** By the key of their path. */
  readonly byField: ReadonlyMap<string, string>;
  /** What has no place in the form. */
  readonly otherErrors: readonly string[];
}

/** What the gateway found wrong, at the fields it is about. */
export function assignErrors(formFields: FormFields, errors: readonly Diagnostic[]): AssignedErrors {
  const byField = new Map<string, string>();
  const otherErrors: string[] = [];
  for (const error of errors) {
    const field = findField(formFields, error.path);
    if (field === undefined) otherErrors.push(errorText(error));
    else
      byField.set(
        field.key,
        [byField.get(field.key), errorText(error, field.isOwnField)].filter(Boolean).join(' '),
      );
  }
  return { byField, otherErrors };
}

function findField(formFields: FormFields, text: string): { key: string; isOwnField: boolean } | undefined {
  const path = parsePath(text);
  if (!path || path.length === 0) return undefined;
  const ownKey = pathKey(path);
  if (formFields.has(ownKey)) return { key: ownKey, isOwnField: true };
  for (let length = path.length - 1; length > 0; length -= 1) {
    const key = pathKey(path.slice(0, length));
    if (formFields.get(key)?.holdsSubtree) return { key, isOwnField: false };
  }
  return undefined;
}

/** The text of a diagnostic. At its own field the path is replaced by "This value". */
function errorText({ path, code, message, suggestion = '' }: Diagnostic, isAtField = false): string {
  const words = strings.tools.form.errors;
  const startsWithPath = isAtField && message.startsWith(`${path} `);
  const text =
    startsWithPath && code === 'missing'
      ? words.required
      : startsWithPath
        ? words.atValue(message.slice(path.length + 1))
        : message;
  return [text, suggestion.charAt(0).toUpperCase() + suggestion.slice(1)].filter(Boolean).join(' ');
}
