import { normalizeServerName, checkServerName } from '@behalf/contracts';
import type { StoredServerName } from '../ports/index.ts';

/** A name made of a title: lower case, blanks as hyphens, nothing else that would need encoding in a URL. */
export function toSlug(title: unknown): string {
  const text = typeof title === 'string' ? title : '';
  const slug = text
    .toLowerCase()
    .trim()
    .replaceAll(/[^a-z0-9\s-]/g, '')
    .replaceAll(/[\s-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return slug === '' ? 'mcp-server' : slug;
}

/** So many that more servers of one title than that are no accident. */
const MAX_NAME_SUFFIX = 10_000;

/**
 * The slug, else the slug with -2, -3 and so on: the first that nobody has and that may be a name. Undefined when there
 * is none: while nobody knows which names are taken, all of them are.
 */
export function findFreeName(slug: string, isTaken: (name: string) => boolean): string | undefined {
  for (let count = 1; count <= MAX_NAME_SUFFIX; count += 1) {
    const name = count === 1 ? slug : `${slug}-${count}`;
    if (checkServerName(name) === undefined && !isTaken(name)) return name;
  }
  return undefined;
}

/** Names that read the same in tool names are one. */
export function createNameCheck(
  names: readonly Pick<StoredServerName, 'normalizedName'>[],
): (name: string) => boolean {
  const usedNames = new Set(names.map(({ normalizedName }) => normalizedName));
  return (name) => usedNames.has(normalizeServerName(name));
}
