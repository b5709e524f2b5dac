/** Segments of the gateway's own routes. A server with such a name would be unreachable or conflict with the route. */
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

/** Prefix of the internal name of a draft. Names of saved servers cannot start with it. */
export const draftPrefix = 'draft~';

const MAX_NAME_LENGTH = 128;

/** The form of a server name within public tool names. */
export function normalizeServerName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replaceAll(/^_+|_+$/g, '');
}

/**
 * The problem with a server name; undefined if it is valid. LibreChat's front end inserts names into URLs without
 * encoding.
 */
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

/** Separates the server key from the tool name in a public name. */
export const nameSeparator = '__';

/** The limit of model APIs. */
export const MAX_PUBLIC_NAME_LENGTH = 64;
export const MAX_SERVER_KEY_LENGTH = 24;

/**
 * Whether the text can be a server key. Rejects text that looks like a key with a hash, because another server
 * could have that key, and text that contains or ends with underscores in a way that makes the separator ambiguous.
 */
export function isServerKey(text: string): boolean {
  if (!/^[A-Za-z0-9_-]{1,24}$/.test(text) || text.includes(nameSeparator) || text.endsWith('_')) return false;
  return !/-[0-9a-f]{8,}$/.test(text);
}

/** Whether the text can be a public name without a server key. Such a name never equals a name with a key. */
export function isValidAlias(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text) && !text.includes(nameSeparator);
}
