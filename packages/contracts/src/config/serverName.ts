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
