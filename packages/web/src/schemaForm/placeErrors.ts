import type { Diagnostic } from '@behalf/contracts';
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

/** At its field, the path need not be said again. */
function wordsOf({ path, message, suggestion }: Diagnostic, isAtField = false): string {
  const rest = isAtField && message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  const said = rest.charAt(0).toUpperCase() + rest.slice(1);
  return [isAtField ? said : message, suggestion].filter(Boolean).join(' ');
}
