/** Stands between the key of a server and a name of that server. */
export const nameSeparator = '__';

/** What the APIs of models accept. */
export const MAX_PUBLIC_NAME_LENGTH = 64;
export const MAX_SERVER_KEY_LENGTH = 24;

/**
 * Whether the names of a server can begin with this. One that looks like a key with a hash could be made to equal one, and one
 * that holds two underscores, or ends with one, could be read as another.
 */
export function isServerKey(text: string): boolean {
  if (!/^[A-Za-z0-9_-]{1,24}$/.test(text) || text.includes(nameSeparator) || text.endsWith('_')) return false;
  return !/-[0-9a-f]{8,}$/.test(text);
}

/** Whether this can be a name without a key before it: no name with one is ever the same. */
export function isValidAlias(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text) && !text.includes(nameSeparator);
}
