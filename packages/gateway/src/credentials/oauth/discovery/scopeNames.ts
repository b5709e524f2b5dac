import { scopeList } from '@behalf/contracts';

const MAX_SCOPES = 100;
const MAX_SCOPE_TEXT_LENGTH = 4_096;
/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[!#-[\]-~]+$/;

/**
 * The scopes that somebody publishes; null where that cannot be believed. They are asked for in an address, kept with a grant and shown
 * to people: who publishes ten thousand of them, or something else than names, is taken to publish none.
 */
export function parseScopeNames(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MAX_SCOPES) return null;
  const names = value.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)) as string[];
  return names.length === value.length && names.join(' ').length <= MAX_SCOPE_TEXT_LENGTH ? names : null;
}

/** The same of a challenge, where they stand in one text. */
export function parseScopeText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseScopeNames(scopeList(text))?.join(' ');
}
