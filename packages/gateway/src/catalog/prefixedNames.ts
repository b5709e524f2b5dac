import { createHash } from 'node:crypto';
import { nameSeparator, MAX_PUBLIC_NAME_LENGTH } from '@behalf/contracts';
import { assignUniqueNames } from './uniqueNames.ts';

const INVALID_PREFIXED_CHARACTERS = /[^A-Za-z0-9_-]/g;
const PREFIXED_HASH_DIGITS = [8, 16, 32] as const;

/** The names of one server's tools or prompts beside those of others, both ways. */
export interface PrefixedNames {
  publicName(name: string): string | undefined;
  /** What the server itself calls it: looked up, never taken apart. */
  upstreamName(publicName: string): string | undefined;
}

/**
 * `<key>__<name>`, with a hash where that is too long, holds other characters, or looks like a name with a hash. The
 * key is this server's alone, so names can only clash within it.
 */
export function createPrefixedNames(key: string, serverId: string, names: readonly string[]): PrefixedNames {
  const distinct = [...new Set(names)];
  const byPublicName = assignUniqueNames(
    distinct,
    (name, level) => buildPrefixedName(key, serverId, name, level),
    PREFIXED_HASH_DIGITS.length + 1,
  );
  const byUpstreamName = new Map([...byPublicName].map(([publicName, name]) => [name, publicName]));
  return {
    publicName: (name) => byUpstreamName.get(name),
    upstreamName: (publicName) => byPublicName.get(publicName),
  };
}

function buildPrefixedName(key: string, serverId: string, name: string, level: number): string {
  const readable = `${key}${nameSeparator}${name}`;
  const needsNoHash =
    readable.length <= MAX_PUBLIC_NAME_LENGTH &&
    readable.search(INVALID_PREFIXED_CHARACTERS) < 0 &&
    !/_[0-9a-f]{8,}$/.test(readable);
  if (needsNoHash && level === 0) return readable;
  const hashLevel = needsNoHash ? level - 1 : level;
  const digits =
    PREFIXED_HASH_DIGITS[Math.min(hashLevel, PREFIXED_HASH_DIGITS.length - 1)] ?? PREFIXED_HASH_DIGITS[0];
  const hash = createHash('sha256')
    .update(JSON.stringify([serverId, name]))
    .digest('hex')
    .slice(0, digits);
  const cut = readable
    .slice(0, MAX_PUBLIC_NAME_LENGTH - 1 - digits)
    .replaceAll(INVALID_PREFIXED_CHARACTERS, '_');
  return `${cut}_${hash}`;
}

const namesByList = new WeakMap<object, { readonly key: string; readonly names: PrefixedNames }>();

/** The same, kept for as long as the list is: it is looked up with every call. */
export function prefixedNamesOf(
  list: object,
  key: string,
  serverId: string,
  names: () => readonly string[],
): PrefixedNames {
  const cached = namesByList.get(list);
  if (cached?.key === key) return cached.names;
  const created = createPrefixedNames(key, serverId, names());
  namesByList.set(list, { key, names: created });
  return created;
}
