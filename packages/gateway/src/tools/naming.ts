import { createHash } from 'node:crypto';
import {
  type EndpointServer,
  MAX_SERVER_KEY_LENGTH,
  type McpEndpoint,
  isServerKey,
  isValidAlias,
  nameSeparator,
} from '@behalf/contracts';
import { resolveServer } from '../access/allowedServer.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Registry } from '../servers/registry.ts';
import type { EndpointParts } from '../toolcall/listEndpoint.ts';
import { assignUniqueNames } from './names.ts';

/** A tool or a prompt of a server of the configuration, by what the server calls it. */
interface UpstreamName {
  readonly server: string;
  readonly name: string;
}

/** Names that the operator chose by hand, both ways. */
interface Aliases {
  aliasOf(server: string, name: string): string | undefined;
  /** What it stands for, whether or not that is there: nothing else ever has this name. */
  resolveAlias(alias: string): UpstreamName | undefined;
}

type NamedKind = 'tools' | 'prompts';

/** What things are called where those of all servers stand side by side, as the operator chose. */
export interface Naming extends Readonly<Record<NamedKind, Aliases>> {
  /** The servers whose names stand alone, the first before all. Empty: none do. */
  readonly priority: readonly string[];
  /** What the names of a server begin with, where that was chosen. */
  keyOf(server: string): string | undefined;
  /** Whether a key was chosen for some server: then it is no other's. */
  isChosen(key: string): boolean;
}

export function createNaming(endpoint: Readonly<McpEndpoint> | undefined): Naming {
  const servers = Object.entries(endpoint?.servers ?? {});
  const keys = new Map(servers.flatMap(([name, { key }]) => (key === undefined ? [] : [[name, key]])));
  const reservedKeys = new Set(keys.values());
  return {
    priority: endpoint?.names === 'priority' ? endpoint.priority : [],
    keyOf: (server) => keys.get(server),
    isChosen: (key) => reservedKeys.has(key),
    tools: aliasesOf(servers, 'tools'),
    prompts: aliasesOf(servers, 'prompts'),
  };
}

function aliasesOf(
  servers: readonly (readonly [name: string, chosen: EndpointServer])[],
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

/** What the names of a server's tools begin with where those of all servers stand side by side. */
export interface ServerKeys {
  keyOf(tenant: string, server: Pick<ServerSnapshot, 'id'>): string | undefined;
  /** The names of the servers that a public name can belong to: one, or none. */
  findServerNames(tenant: string, publicName: string): readonly string[];
  /** The server of this very key. */
  nameOf(tenant: string, key: string): string | undefined;
}

/** How many hex digits tell keys apart; more when fewer were not enough. */
const HASH_DIGITS = [8, 16, 22] as const;

interface Keys {
  readonly byId: ReadonlyMap<string, string>;
  readonly byKey: ReadonlyMap<string, string>;
  /** Each with what its names begin with. */
  readonly prefixes: readonly (readonly [beginning: string, name: string])[];
}

/**
 * Keys follow from a server's own name, or from its id where the name cannot be one: the same for everybody, on every
 * replica and after a restart, and no other server can take them. None holds two underscores or ends with one, so no
 * name of one server is a name of another. A key that the operator chose for a server of the configuration is that
 * server's, whoever has such a name.
 */
export function createServerKeys(
  registry: Pick<Registry, 'list' | 'onChange'>,
  naming: () => Pick<Naming, 'keyOf' | 'isChosen'>,
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
  { keyOf, isChosen }: Pick<Naming, 'keyOf' | 'isChosen'>,
): Keys {
  const configuredKeyOf = ({ name, source }: ServerSnapshot) => (source === 'user' ? undefined : keyOf(name));
  const withoutConfiguredKey = servers.filter((server) => configuredKeyOf(server) === undefined);
  const serversByKey = assignUniqueNames(
    withoutConfiguredKey,
    (server, level) => buildServerKey(server, isChosen(server.name) ? level + 1 : level),
    HASH_DIGITS.length + 1,
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

/** Level 0 is the preferred key; each further one has more of the hash. */
function buildServerKey({ id, name }: Pick<ServerSnapshot, 'id' | 'name'>, level = 0): string {
  const isValidKey = isServerKey(name);
  if (isValidKey && level === 0) return name;
  const hashLevel = isValidKey ? level - 1 : level;
  const digits = HASH_DIGITS[Math.min(hashLevel, HASH_DIGITS.length - 1)] ?? HASH_DIGITS[0];
  const hash = createHash('sha256').update(id).digest('hex').slice(0, digits);
  const readable = name.replaceAll(/[^A-Za-z0-9-]+/g, '-').replaceAll(/^-+/g, '');
  return `${readable.slice(0, MAX_SERVER_KEY_LENGTH - 1 - digits).replace(/-+$/, '') || 'x'}-${hash}`;
}

/** What is known of what a server has. What an incomplete list lacks, the server may have all the same. */
export interface ListedNames {
  readonly names: readonly string[];
  readonly complete: boolean;
}

/** The name that something has without its server's key before it; undefined: it has none. */
export type UnprefixedNameLookup = (server: ServerSnapshot, name: string) => string | undefined;

/**
 * Which names stand alone for this caller. One that the operator chose by hand stands for that and nothing else. Any other
 * belongs to the first server of the list that has it, and only if each server before that one is the caller's, is known and
 * lacks it: while one is away, was never listed or is not theirs, nobody else answers to a name that may be its own.
 */
export function createUnprefixedNameLookup(
  parts: Pick<EndpointParts, 'naming' | 'registry' | 'canSee'>,
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

/** Whether a server of the list can have this name as it is: it fits, and the operator gave it to nothing else. */
export function canBeUnprefixed(naming: Naming, kind: NamedKind, server: string, name: string): boolean {
  const aliases = naming[kind];
  if (!isValidAlias(name) || aliases.resolveAlias(name) !== undefined) return false;
  return aliases.aliasOf(server, name) === undefined;
}
