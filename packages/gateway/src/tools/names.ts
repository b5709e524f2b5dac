import { createHash } from 'node:crypto';
import { MAX_PUBLIC_NAME_LENGTH, nameSeparator } from '@behalf/contracts';

/** Which tool of which server, and under which name its server is known to models. */
export interface NamedIdentity {
  readonly serverId: string;
  /** `normalizedName` of its settings. */
  readonly serverName: string;
  readonly toolName: string;
}

/** What the APIs of models accept. */
const MAX_NAME_LENGTH = 64;
const INVALID_CHARACTERS = /[^A-Za-z0-9_-]/g;
const SEPARATOR = '_mcp_';
/** How many hex digits tell names apart; more when fewer were not enough. */
const HASH_DIGITS = [8, 16, 32, 56] as const;

/**
 * The name of a tool towards models: `<tool>_mcp_<server>`. With a hash where that is too long, holds other characters,
 * or can be read in two ways: then the name hangs on the identity, and no server can take another's. It depends on
 * nothing else, so it is the same on every replica and after a restart.
 */
export function preferredToolName(identity: NamedIdentity): string {
  return unhashedName(identity) ?? hashedName(identity, HASH_DIGITS[0]);
}

/**
 * Names for all of these, no two alike. Two servers can be known by one name, and a hash of 8 digits can be found
 * twice by somebody who tries: then none of the tools keeps the name, and a call of it reaches nobody instead of the
 * wrong one.
 */
export function assignToolNames<T extends NamedIdentity>(identities: readonly T[]): Map<string, T> {
  // A tool that stands here twice is still one tool.
  const distinct = new Map(
    identities.map((identity) => [JSON.stringify([identity.serverId, identity.toolName]), identity]),
  );
  const levels = new Map([...distinct.values()].map((identity) => [identity, 0]));
  for (let round = 0; ; round += 1) {
    const byName = new Map<string, T[]>();
    for (const [identity, level] of levels) {
      const name = buildName(identity, level);
      const sameNamed = byName.get(name);
      if (sameNamed) sameNamed.push(identity);
      else byName.set(name, [identity]);
    }
    const clashes = [...byName.values()].filter((sameNamed) => sameNamed.length > 1).flat();
    // Beyond the last round it would take two equal hashes of 224 bits. Those would have no name.
    if (clashes.length === 0 || round > HASH_DIGITS.length) {
      return new Map(
        [...byName].flatMap(([name, sameNamed]) =>
          sameNamed.length === 1 ? [[name, sameNamed[0] as T]] : [],
        ),
      );
    }
    for (const identity of clashes) levels.set(identity, (levels.get(identity) ?? 0) + 1);
  }
}

/** Level 0 is the preferred name; each further one has more of the hash. */
function buildName(identity: NamedIdentity, level: number): string {
  if (level === 0) return preferredToolName(identity);
  // A tool whose preferred name is hashed already goes on from there.
  const hashLevel = unhashedName(identity) === undefined ? level : level - 1;
  return hashedName(identity, HASH_DIGITS[Math.min(hashLevel, HASH_DIGITS.length - 1)] ?? HASH_DIGITS[0]);
}

function unhashedName({ toolName: tool, serverName }: NamedIdentity): string | undefined {
  const name = `${tool}${SEPARATOR}${serverName}`;
  if (name.length > MAX_NAME_LENGTH || name.search(INVALID_CHARACTERS) >= 0) return undefined;
  // `a` of `b_mcp_c` and `a_mcp_b` of `c` would be one name.
  if (name.includes(SEPARATOR, name.indexOf(SEPARATOR) + 1)) return undefined;
  // It looks like a name with a hash, and could be made to equal one.
  if (/_[0-9a-f]{8,}$/.test(name)) return undefined;
  return name;
}

function hashedName({ serverId, serverName, toolName: tool }: NamedIdentity, digits: number): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([serverId, tool]))
    .digest('hex')
    .slice(0, digits);
  const readable = `${tool}${SEPARATOR}${serverName}`
    .slice(0, MAX_NAME_LENGTH)
    .replaceAll(INVALID_CHARACTERS, '_');
  return `${readable.slice(0, MAX_NAME_LENGTH - 1 - digits)}_${hash}`;
}

const INVALID_PREFIXED_CHARACTERS = /[^A-Za-z0-9_-]/g;
const PREFIXED_HASH_DIGITS = [8, 16, 32] as const;

/** The names of one server's tools or prompts beside those of others, both ways. */
interface PrefixedNames {
  publicName(name: string): string | undefined;
  /** What the server itself calls it: looked up, never taken apart. */
  upstreamName(publicName: string): string | undefined;
}

/**
 * `<key>__<name>`, with a hash where that is too long, holds other characters, or looks like a name with a hash. The
 * key is this server's alone, so names can only clash within it.
 */
function createPrefixedNames(key: string, serverId: string, names: readonly string[]): PrefixedNames {
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

/**
 * Names for all of these, no two alike. Where two would have the same, neither keeps it: both take the next of theirs. The
 * outcome depends on the items alone, not on their order.
 */
export function assignUniqueNames<T>(
  items: readonly T[],
  nameAt: (item: T, level: number) => string,
  levels: number,
): Map<string, T> {
  const levelByItem = new Map(items.map((item) => [item, 0]));
  for (let round = 0; ; round += 1) {
    const byName = new Map<string, T[]>();
    for (const [item, level] of levelByItem) {
      const name = nameAt(item, level);
      const sameNamed = byName.get(name);
      if (sameNamed) sameNamed.push(item);
      else byName.set(name, [item]);
    }
    const clashes = [...byName.values()].filter((sameNamed) => sameNamed.length > 1).flat();
    // Beyond the last round it would take two equal hashes. Those would have no name.
    if (clashes.length === 0 || round >= levels) {
      return new Map(
        [...byName].flatMap(([name, sameNamed]) =>
          sameNamed.length === 1 ? [[name, sameNamed[0] as T]] : [],
        ),
      );
    }
    for (const item of clashes) levelByItem.set(item, (levelByItem.get(item) ?? 0) + 1);
  }
}

const SCHEME = 'behalf:';

/** The address of a resource that two servers have under the same one. A mere prefix, so that templates take it too. */
export function wrapAddress(key: string, address: string): string {
  return `${SCHEME}${key}/${address}`;
}

/** Undefined for every other address. */
export function unwrapAddress(
  address: string,
): { readonly key: string; readonly address: string } | undefined {
  const [, key = '', wrappedAddress = ''] = /^behalf:([A-Za-z0-9_-]{1,24})\/(.+)$/s.exec(address) ?? [];
  return key === '' ? undefined : { key, address: wrappedAddress };
}

/** Whether an address can come from a template of RFC 6570, read generously: who is asked decides. */
export function matchesTemplate(template: string, address: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  if (literals.length === 1) return template === address;
  const [prefix = '', ...remaining] = literals;
  if (!address.startsWith(prefix)) return false;
  let position = prefix.length;
  for (const [index, literal] of remaining.entries()) {
    if (index === remaining.length - 1)
      return address.length - literal.length >= position && address.endsWith(literal);
    const matchIndex = address.indexOf(literal, position);
    if (matchIndex < 0) return false;
    position = matchIndex + literal.length;
  }
  return true;
}
