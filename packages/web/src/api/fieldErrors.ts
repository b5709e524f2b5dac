import type { Diagnostic } from '@behalf/contracts';
import { ApiError } from './apiError.ts';

/** What the gateway said about one field of what was sent; undefined when it said nothing. */
export function fieldErrorText(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const diagnostic = error.errors.find((candidate) => candidate.path === path);
  return diagnostic && diagnosticText({ message: diagnostic.message });
}

/** Whether all that was said belongs to these fields: it stands there then, and need not be said again. */
export function hasOnlyFieldErrors(error: unknown, paths: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.errors.length === 0) return false;
  return error.errors.every(({ path }) => paths.includes(path));
}

/** A diagnostic as sentences. The gateway writes messages and suggestions as clauses that continue a path. */
export function diagnosticText({ message, suggestion }: Pick<Diagnostic, 'message' | 'suggestion'>): string {
  const clauses = suggestion === undefined ? [message] : [message, suggestion];
  return clauses.map(toSentence).join(' ');
}

function toSentence(clause: string): string {
  const capitalized = clause.charAt(0).toUpperCase() + clause.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
