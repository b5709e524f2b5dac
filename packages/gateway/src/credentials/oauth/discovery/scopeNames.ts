import { scopeList } from '@behalf/contracts';

const MOST_NAMES = 100;
const LONGEST_TEXT = 4_096;
/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[!#-[\]-~]+$/;

/**
 * The scopes that somebody publishes; null where that cannot be believed. They are asked for in an address, kept with a grant and shown
 * to people: who publishes ten thousand of them, or something else than names, is taken to publish none.
 */
export function scopeNames(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MOST_NAMES) return null;
  const names = value.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)) as string[];
  return names.length === value.length && names.join(' ').length <= LONGEST_TEXT ? names : null;
}

/** The same of a challenge, where they stand in one text. */
export function scopeText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : scopeNames(scopeList(text))?.join(' ');
}
