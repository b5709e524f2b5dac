import type { Diagnostic } from '@behalf/contracts';
import { errorKinds } from '@behalf/contracts/plain';
import { strings } from '../strings/strings.ts';
import { ApiError } from './request.ts';

/** Text of an error for the user. */
interface ErrorText {
  readonly title: string;
  readonly text: string;
}

export function explainError(error: unknown): ErrorText {
  const { errors } = strings;
  if (!(error instanceof ApiError))
    return { title: errors.unexpectedTitle, text: strings.common.crashedText };
  if (error.code === 'OFFLINE') return { title: errors.offlineTitle, text: errors.offlineText };
  if (error.code === 'UNREADABLE') return { title: errors.unreadableTitle, text: errors.unreadableText };
  const { code, title, detail, problem, retryAfterMs } = error;
  if (code === 'AUTH_REQUIRED') return { title, text: errors.signInAgain };
  const hints = [
    withoutTitle(detail, title),
    problem?.status === 500 && problem.instance !== undefined ? errors.incident(problem.instance) : '',
    retryAfterMs === undefined ? '' : errors.retryIn(Math.ceil(retryAfterMs / 1000)),
  ];
  return { title, text: hints.filter(Boolean).join(' ') || actionText(code) };
}

/** Removes a leading title. Without a specific detail, the gateway repeats the title and adds the advice. */
export function withoutTitle(detail: string, title: string): string {
  return detail.startsWith(title) ? detail.slice(title.length).replace(/^[.:]?\s*/, '') : detail;
}

/** Returns the generic text and advice for an error code, or undefined for an unknown code. */
export function explainErrorCode(code: string): ErrorText | undefined {
  if (!(code in errorKinds)) return undefined;
  const { title, action } = errorKinds[code as keyof typeof errorKinds];
  return { title, text: action };
}

function actionText(code: string): string {
  return explainErrorCode(code)?.text ?? '';
}

/** Returns the gateway's message for one field of the request, or undefined if there is none. */
export function fieldErrorText(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const diagnostic = error.errors.find((candidate) => candidate.path === path);
  return diagnostic && diagnosticText({ message: diagnostic.message });
}

/** Checks whether all errors belong to these fields. If so, only the fields show them. */
export function hasOnlyFieldErrors(error: unknown, paths: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.errors.length === 0) return false;
  return error.errors.every(({ path }) => paths.includes(path));
}

/** Formats a diagnostic as sentences. Messages and suggestions are clauses that continue a path. */
export function diagnosticText({ message, suggestion }: Pick<Diagnostic, 'message' | 'suggestion'>): string {
  const clauses = suggestion === undefined ? [message] : [message, suggestion];
  return clauses.map(toSentence).join(' ');
}

function toSentence(clause: string): string {
  const capitalized = clause.charAt(0).toUpperCase() + clause.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
