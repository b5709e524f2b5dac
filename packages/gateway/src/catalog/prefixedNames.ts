import { createHash } from 'node:crypto';
import { betweenNames, longestPublicName } from '@behalf/contracts';
import { uniqueNames } from './uniqueNames.ts';

const OUTSIDE = /[^A-Za-z0-9_-]/g;
const DIGITS = [8, 16, 32] as const;

/** The names of one server's tools or prompts beside those of others, both ways. */
export interface PrefixedNames {
  publicName(name: string): string | undefined;
  /** What the server itself calls it: looked up, never taken apart. */
  ownName(publicName: string): string | undefined;
}

/**
 * `<key>__<name>`, with a hash where that is too long, holds other characters, or looks like a name with a hash. The
 * key is this server's alone, so names can only clash within it.
 */
export function prefixedNames(key: string, serverId: string, names: readonly string[]): PrefixedNames {
  const distinct = [...new Set(names)];
  const byPublic = uniqueNames(
    distinct,
    (name, level) => prefixedName(key, serverId, name, level),
    DIGITS.length + 1,
  );
  const byOwn = new Map([...byPublic].map(([publicName, name]) => [name, publicName]));
  return {
    publicName: (name) => byOwn.get(name),
    ownName: (publicName) => byPublic.get(publicName),
  };
}

function prefixedName(key: string, serverId: string, name: string, level: number): string {
  const readable = `${key}${betweenNames}${name}`;
  const plain =
    readable.length <= longestPublicName && readable.search(OUTSIDE) < 0 && !/_[0-9a-f]{8,}$/.test(readable);
  if (plain && level === 0) return readable;
  const step = plain ? level - 1 : level;
  const digits = DIGITS[Math.min(step, DIGITS.length - 1)] ?? DIGITS[0];
  const hash = createHash('sha256')
    .update(JSON.stringify([serverId, name]))
    .digest('hex')
    .slice(0, digits);
  const cut = readable.slice(0, longestPublicName - 1 - digits).replaceAll(OUTSIDE, '_');
  return `${cut}_${hash}`;
}

const known = new WeakMap<object, { readonly key: string; readonly names: PrefixedNames }>();

/** The same, kept for as long as the list is: it is looked up with every call. */
export function prefixedNamesOf(
  list: object,
  key: string,
  serverId: string,
  names: () => readonly string[],
): PrefixedNames {
  const kept = known.get(list);
  if (kept?.key === key) return kept.names;
  const made = prefixedNames(key, serverId, names());
  known.set(list, { key, names: made });
  return made;
}
