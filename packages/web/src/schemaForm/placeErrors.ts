import type { Diagnostic } from '@behalf/contracts';
import { strings } from '../strings/strings.ts';
import { pathKey, readPath } from './fieldPath.ts';

/** Whether a place of the form holds everything below it, as JSON. */
export type Places = ReadonlyMap<string, { readonly isWhole: boolean }>;

export interface PlacedErrors {
  /** By the key of their path. */
  readonly fields: ReadonlyMap<string, string>;
  /** What has no place in the form. */
  readonly others: readonly string[];
}

/** What the gateway found wrong, at the fields it is about. */
export function placeErrors(places: Places, errors: readonly Diagnostic[]): PlacedErrors {
  const fields = new Map<string, string>();
  const others: string[] = [];
  for (const error of errors) {
    const place = placeOf(places, error.path);
    if (place === undefined) others.push(wordsOf(error));
    else
      fields.set(place.key, [fields.get(place.key), wordsOf(error, place.isExact)].filter(Boolean).join(' '));
  }
  return { fields, others };
}

function placeOf(places: Places, text: string): { key: string; isExact: boolean } | undefined {
  const path = readPath(text);
  if (!path || path.length === 0) return undefined;
  const exact = pathKey(path);
  if (places.has(exact)) return { key: exact, isExact: true };
  for (let length = path.length - 1; length > 0; length -= 1) {
    const key = pathKey(path.slice(0, length));
    if (places.get(key)?.isWhole) return { key, isExact: false };
  }
  return undefined;
}

/** The text of a diagnostic. At its own field the path is replaced by "This value". */
function wordsOf({ path, code, message, suggestion = '' }: Diagnostic, isAtField = false): string {
  const words = strings.tools.form.errors;
  const isOwn = isAtField && message.startsWith(`${path} `);
  const text =
    isOwn && code === 'missing'
      ? words.required
      : isOwn
        ? words.value(message.slice(path.length + 1))
        : message;
  return [text, suggestion.charAt(0).toUpperCase() + suggestion.slice(1)].filter(Boolean).join(' ');
}
