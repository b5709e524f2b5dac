import { ApiError } from './apiError.ts';

/** What the gateway said about one field of what was sent; undefined when it said nothing. */
export function fieldError(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.errors.find((diagnostic) => diagnostic.path === path)?.message;
}

/** Whether all that was said belongs to these fields: it stands there then, and need not be said again. */
export function isAboutFields(error: unknown, paths: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.errors.length === 0) return false;
  return error.errors.every(({ path }) => paths.includes(path));
}
