/** Segments of our own routes: a server of that name would be unreachable, or reach the wrong route. */
export const reservedServerNames = [
  'tools',
  'servers',
  'connection',
  'oauth',
  'auth-values',
  'reinitialize',
  'approvals',
  'blocks',
  'discover-tools',
  'sets',
  'runs',
] as const;

/** What a server that nobody saved is called for as long as somebody signs in at it: no saved one can be called so. */
export const draftPrefix = 'draft~';

const MAX_NAME_LENGTH = 128;

/** The form in which a name becomes part of a tool's public name. */
export function normalizeServerName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replaceAll(/^_+|_+$/g, '');
}

/** What is wrong with a server's name, or nothing. The stock front end puts names into URLs without encoding them. */
export function checkServerName(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `a server name has at most ${MAX_NAME_LENGTH} characters`;
  if (/[/\\?#%\u0000-\u001f\u007f-\u009f]/.test(name))
    return 'a server name may not contain / \\ ? # % or control characters';
  if (name.trim() !== name) return 'a server name may not begin or end with a space';
  if (name === '.' || name === '..') return 'a server name may not be a path segment';
  if ((reservedServerNames as readonly string[]).includes(name))
    return `"${name}" is reserved for a route of the gateway`;
  if (name.startsWith(draftPrefix)) return `a server name may not begin with ${draftPrefix}`;
  if (normalizeServerName(name) === '')
    return 'a server name needs at least one letter or digit of the Latin alphabet';
  return undefined;
}

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
