import type { Diagnostic } from '@behalf/contracts';
import { strings } from '../strings/strings.ts';

/** A path of member names and list indexes. */
export type FieldPath = readonly (string | number)[];

/**
 * The key of a path. A number and a name with the same digits are equal, because the gateway writes both the same
 * way.
 */
export function pathKey(path: FieldPath): string {
  return JSON.stringify(path.map(String));
}

/** The gateway's notation: `arguments.items[0].name`, and `["..."]` for other names. */
const STEP_PATTERN = /\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path of the gateway; undefined if it is not valid. */
export function parsePath(text: string): FieldPath | undefined {
  if (!text.startsWith('arguments')) return undefined;
  const path: string[] = [];
  STEP_PATTERN.lastIndex = 'arguments'.length;
  while (STEP_PATTERN.lastIndex < text.length) {
    const step = STEP_PATTERN.exec(text);
    if (!step) return undefined;
    const [, name, index, quoted] = step;
    path.push(name ?? index ?? (JSON.parse(quoted ?? '""') as string));
  }
  return path;
}

/** Whether a field contains everything below it as JSON. */
export type FormFields = ReadonlyMap<string, { readonly holdsSubtree: boolean }>;

export interface AssignedErrors {
  /** By path key. */
  readonly byField: ReadonlyMap<string, string>;
  /** Errors without a field in the form. */
  readonly otherErrors: readonly string[];
}

/** Assigns errors of the gateway to fields. */
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
