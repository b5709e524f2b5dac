/**
 * All naming schemes of the gateway:
 * - `<tool>_mcp_<server>` for tools in model APIs (LibreChat compatible), see `assignToolNames`
 * - `<key>__<name>` for tools and prompts at the MCP endpoint of all servers, see `prefixedNamesOf` and `createServerKeys`
 * - aliases and unprefixed names that the operator configured, see `createNaming` and `createUnprefixedNameLookup`
 * - `behalf:<key>/<address>` for resources, see `wrapAddress`
 *
 * A name depends only on the named items, so it is the same on every replica and after a restart. Code looks names up and
 * never splits them. No server can take the name of an item of another server.
 */
import { createHash } from 'node:crypto';
import {
  type EndpointServer,
  MAX_PUBLIC_NAME_LENGTH,
  MAX_SERVER_KEY_LENGTH,
  type McpEndpoint,
  isServerKey,
  isValidAlias,
  nameSeparator,
} from '@behalf/contracts';
import { type AccessParts, resolveServer } from '../access/allowedServer.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { Registry } from '../servers/registry.ts';

const INVALID_CHARACTERS = /[^A-Za-z0-9_-]/g;
/** A readable name with this ending could be made equal to a hashed name. */
const HASH_ENDING = /_[0-9a-f]{8,}$/;

interface HashableName {
  readonly readable: string;
  /** Whether `readable` can be used without a hash. */
  readonly isUsable: boolean;
  /** The hashed text. */
  readonly identity: string;
  readonly maxLength: number;
  /** Hex digits of the hash, level by level. */
  readonly hashDigits: readonly number[];
}

/** Level 0 is the preferred name. Each further level has a longer hash. */
function buildName(name: HashableName, level: number): string {
  const { readable, isUsable, identity, maxLength } = name;
  if (isUsable && level === 0) return readable;
  const digits = digitsAt(name.hashDigits, isUsable ? level - 1 : level);
  const cut = readable.slice(0, maxLength - 1 - digits).replaceAll(INVALID_CHARACTERS, '_');
  return `${cut}_${hashOf(identity, digits)}`;
}

function digitsAt(hashDigits: readonly number[], level: number): number {
  return hashDigits[Math.min(level, hashDigits.length - 1)] as number;
}

function hashOf(identity: string, digits: number): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, digits);
}

/**
 * Assigns unique names. If several items would get the same name, none of them keeps it: each takes the name of its next
 * level. The result does not depend on the order of the items.
 */
function assignUniqueNames<T>(
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
    // A clash after the last level means equal hashes of 88 bits or more. Such items get no name.
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

/** A tool and the name of its server in tool names. */
export interface NamedIdentity {
  readonly serverId: string;
  /** `normalizedName` of the server's settings. */
  readonly serverName: string;
  readonly toolName: string;
}

/** Limit of the model APIs. */
const MAX_TOOL_NAME_LENGTH = 64;
const TOOL_SEPARATOR = '_mcp_';
const TOOL_HASH_DIGITS = [8, 16, 32, 56] as const;

/**
 * The preferred name of a tool in model APIs: `<tool>_mcp_<server>`. The name ends in a hash of the identity if it is too
 * long, has other characters, or is ambiguous: tool `a` of `b_mcp_c` and tool `a_mcp_b` of `c` would have the same name.
 */
export function preferredToolName(identity: NamedIdentity): string {
  return buildToolName(identity, 0);
}

function buildToolName({ serverId, serverName, toolName }: NamedIdentity, level: number): string {
  const readable = `${toolName}${TOOL_SEPARATOR}${serverName}`;
  const isAmbiguous = readable.indexOf(TOOL_SEPARATOR) !== readable.lastIndexOf(TOOL_SEPARATOR);
  const name: HashableName = {
    readable,
    isUsable: !isAmbiguous && isUsableName(readable, MAX_TOOL_NAME_LENGTH),
    identity: JSON.stringify([serverId, toolName]),
    maxLength: MAX_TOOL_NAME_LENGTH,
    hashDigits: TOOL_HASH_DIGITS,
  };
  return buildName(name, level);
}

function isUsableName(readable: string, maxLength: number): boolean {
  return (
    readable.length <= maxLength && readable.search(INVALID_CHARACTERS) < 0 && !HASH_ENDING.test(readable)
  );
}

/**
 * Unique names for all of these tools. Two servers can have the same normalized name, and an attacker can find two tools
 * with the same 8-digit hash. Then no tool keeps the name, so a call reaches no tool instead of the wrong one.
 */
export function assignToolNames<T extends NamedIdentity>(identities: readonly T[]): Map<string, T> {
  const distinct = new Map(
    identities.map((identity) => [JSON.stringify([identity.serverId, identity.toolName]), identity]),
  );
  return assignUniqueNames([...distinct.values()], buildToolName, TOOL_HASH_DIGITS.length + 1);
}

/** The prefixed names of one server's tools or prompts, in both directions. */
interface PrefixedNames {
  publicName(name: string): string | undefined;
  upstreamName(publicName: string): string | undefined;
}

const PREFIXED_HASH_DIGITS = [8, 16, 32] as const;

/** `<key>__<name>`. Only this server has the key, so names can clash only within the server. */
function createPrefixedNames(key: string, serverId: string, names: readonly string[]): PrefixedNames {
  const nameAt = (name: string, level: number) => {
    const readable = `${key}${nameSeparator}${name}`;
    return buildName(
      {
        readable,
        isUsable: isUsableName(readable, MAX_PUBLIC_NAME_LENGTH),
        identity: JSON.stringify([serverId, name]),
        maxLength: MAX_PUBLIC_NAME_LENGTH,
        hashDigits: PREFIXED_HASH_DIGITS,
      },
      level,
    );
  };
  const byPublicName = assignUniqueNames([...new Set(names)], nameAt, PREFIXED_HASH_DIGITS.length + 1);
  const byUpstreamName = new Map([...byPublicName].map(([publicName, name]) => [name, publicName]));
  return {
    publicName: (name) => byUpstreamName.get(name),
    upstreamName: (publicName) => byPublicName.get(publicName),
  };
}

const namesByList = new WeakMap<object, { readonly key: string; readonly names: PrefixedNames }>();

/** Cached as long as the list exists, because every call at the endpoint of all servers needs the names. */
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

/** A tool or prompt of a configured server, with the name that the server uses. */
interface UpstreamName {
  readonly server: string;
  readonly name: string;
}

/** Names that the operator configured, in both directions. */
interface Aliases {
  aliasOf(server: string, name: string): string | undefined;
  /** The item for which the alias is configured, even if the server does not have it. No other item gets this name. */
  resolveAlias(alias: string): UpstreamName | undefined;
}

type NamedKind = 'tools' | 'prompts';

/** The names that the operator configured for the endpoint of all servers. */
export interface Naming extends Readonly<Record<NamedKind, Aliases>> {
  /** Servers whose tools and prompts have unprefixed names, highest priority first. */
  readonly priority: readonly string[];
  /** The configured key of a server. */
  keyOf(server: string): string | undefined;
  /** Whether the operator configured this key for a server. No other server gets a configured key. */
  isConfiguredKey(key: string): boolean;
}

export function createNaming(endpoint: Readonly<McpEndpoint> | undefined): Naming {
  const servers = Object.entries(endpoint?.servers ?? {});
  const keys = new Map(servers.flatMap(([name, { key }]) => (key === undefined ? [] : [[name, key]])));
  const configuredKeys = new Set(keys.values());
  return {
    priority: endpoint?.names === 'priority' ? endpoint.priority : [],
    keyOf: (server) => keys.get(server),
    isConfiguredKey: (key) => configuredKeys.has(key),
    tools: createAliases(servers, 'tools'),
    prompts: createAliases(servers, 'prompts'),
  };
}

function createAliases(
  servers: readonly (readonly [name: string, configured: EndpointServer])[],
  kind: NamedKind,
): Aliases {
  const byServer = new Map(
    servers.map(([server, { [kind]: names }]) => [server, new Map(Object.entries(names))]),
  );
  const namesByAlias = new Map<string, UpstreamName>();
  for (const [server, names] of byServer) {
    for (const [name, alias] of names) namesByAlias.set(alias, { server, name });
  }
  return {
    aliasOf: (server, name) => byServer.get(server)?.get(name),
    resolveAlias: (alias) => namesByAlias.get(alias),
  };
}

/** The keys of servers: the prefixes of their public names at the endpoint of all servers. */
export interface ServerKeys {
  keyOf(tenant: string, server: Pick<ServerSnapshot, 'id'>): string | undefined;
  /** Names of the servers whose prefix the public name has: one or none. */
  findServerNames(tenant: string, publicName: string): readonly string[];
  /** Name of the server with this key. */
  nameOf(tenant: string, key: string): string | undefined;
}

const KEY_HASH_DIGITS = [8, 16, 22] as const;

interface Keys {
  readonly byId: ReadonlyMap<string, string>;
  readonly byKey: ReadonlyMap<string, string>;
  readonly prefixes: readonly (readonly [prefix: string, name: string])[];
}

/**
 * A key is the server's name, or a hash of its id if the name is not a valid key. A key that the operator configured belongs
 * to the configured server, even if another server has this name. No key contains two underscores or ends with one, so no
 * public name of one server is a public name of another.
 */
export function createServerKeys(
  registry: Pick<Registry, 'list' | 'onChange'>,
  naming: () => Pick<Naming, 'keyOf' | 'isConfiguredKey'>,
): ServerKeys {
  let keysByTenant = new Map<string, Keys>();
  registry.onChange(() => {
    keysByTenant = new Map();
  });
  function keysOf(tenant: string): Keys {
    let keys = keysByTenant.get(tenant);
    if (!keys) keysByTenant.set(tenant, (keys = buildKeys(registry.list(tenant), naming())));
    return keys;
  }
  return {
    keyOf: (tenant, { id }) => keysOf(tenant).byId.get(id),
    nameOf: (tenant, key) => keysOf(tenant).byKey.get(key),
    findServerNames(tenant, publicName) {
      const found: string[] = [];
      for (const [prefix, name] of keysOf(tenant).prefixes) {
        if (publicName.startsWith(prefix)) found.push(name);
      }
      return found;
    },
  };
}

function buildKeys(
  servers: readonly ServerSnapshot[],
  { keyOf, isConfiguredKey }: Pick<Naming, 'keyOf' | 'isConfiguredKey'>,
): Keys {
  const configuredKeyOf = ({ name, source }: ServerSnapshot) => (source === 'user' ? undefined : keyOf(name));
  const serversByKey = assignUniqueNames(
    servers.filter((server) => configuredKeyOf(server) === undefined),
    (server, level) => buildServerKey(server, isConfiguredKey(server.name) ? level + 1 : level),
    KEY_HASH_DIGITS.length + 1,
  );
  for (const server of servers) {
    const key = configuredKeyOf(server);
    if (key !== undefined) serversByKey.set(key, server);
  }
  return {
    byId: new Map([...serversByKey].map(([key, { id }]) => [id, key])),
    byKey: new Map([...serversByKey].map(([key, { name }]) => [key, name])),
    prefixes: [...serversByKey].map(([key, { name }]) => [key + nameSeparator, name]),
  };
}

function buildServerKey({ id, name }: Pick<ServerSnapshot, 'id' | 'name'>, level: number): string {
  const isUsable = isServerKey(name);
  if (isUsable && level === 0) return name;
  const digits = digitsAt(KEY_HASH_DIGITS, isUsable ? level - 1 : level);
  const readable = name.replaceAll(/[^A-Za-z0-9-]+/g, '-').replaceAll(/^-+/g, '');
  const cut = readable.slice(0, MAX_SERVER_KEY_LENGTH - 1 - digits).replace(/-+$/, '');
  return `${cut || 'x'}-${hashOf(id, digits)}`;
}

/** The known names of a server. The server can have further names if the list is incomplete. */
export interface ListedNames {
  readonly names: readonly string[];
  readonly complete: boolean;
}

/** Returns the name of an item without the key of its server; undefined if the item has only its prefixed name. */
export type UnprefixedNameLookup = (server: ServerSnapshot, name: string) => string | undefined;

/**
 * The unprefixed names for this caller. An alias names the configured item only. Any other name belongs to the first
 * server of the priority list that has it, if every server before it is visible to the caller, listed completely and lacks the
 * name. If an earlier server is unavailable or not visible, no later server answers to a name that could belong to it.
 */
export function createUnprefixedNameLookup(
  parts: Pick<AccessParts, 'canSee'> & {
    readonly registry: Pick<Registry, 'find'>;
    readonly naming: () => Naming;
  },
  principal: Principal,
  kind: NamedKind,
  getListedNames: (server: ServerSnapshot) => ListedNames | undefined,
): UnprefixedNameLookup {
  const naming = parts.naming();
  const owners = new Map<string, string>();
  for (const name of naming.priority) {
    const server = resolveServer(parts.registry, principal, name);
    const listed = server && parts.canSee(principal, server) ? getListedNames(server) : undefined;
    if (!listed) break;
    for (const upstreamName of listed.names) {
      if (canBeUnprefixed(naming, kind, name, upstreamName) && !owners.has(upstreamName))
        owners.set(upstreamName, name);
    }
    if (!listed.complete) break;
  }
  return ({ name: server, source }, name) => {
    if (source === 'user') return undefined;
    return naming[kind].aliasOf(server, name) ?? (owners.get(name) === server ? name : undefined);
  };
}

/** Whether the item can have its upstream name unprefixed: the name is valid, not an alias, and the item has no alias. */
export function canBeUnprefixed(naming: Naming, kind: NamedKind, server: string, name: string): boolean {
  const aliases = naming[kind];
  if (!isValidAlias(name) || aliases.resolveAlias(name) !== undefined) return false;
  return aliases.aliasOf(server, name) === undefined;
}

/** The public address of a resource that several servers have. The key is a prefix, so the same works for URI templates. */
export function wrapAddress(key: string, address: string): string {
  return `behalf:${key}/${address}`;
}

/** Undefined for addresses that `wrapAddress` did not create. */
export function unwrapAddress(
  address: string,
): { readonly key: string; readonly address: string } | undefined {
  const [, key = '', wrappedAddress = ''] = /^behalf:([A-Za-z0-9_-]{1,24})\/(.+)$/s.exec(address) ?? [];
  return key === '' ? undefined : { key, address: wrappedAddress };
}

/** Whether an address can be an expansion of an RFC 6570 template. May accept others: the server makes the final check. */
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
