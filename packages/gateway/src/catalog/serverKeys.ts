import { createHash } from 'node:crypto';
import { nameSeparator, isServerKey, MAX_SERVER_KEY_LENGTH } from '@behalf/contracts';
import type { Registry } from '../registry/registry.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Naming } from './naming.ts';
import { assignUniqueNames } from './uniqueNames.ts';

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
export function buildServerKey({ id, name }: Pick<ServerSnapshot, 'id' | 'name'>, level = 0): string {
  const isValidKey = isServerKey(name);
  if (isValidKey && level === 0) return name;
  const hashLevel = isValidKey ? level - 1 : level;
  const digits = HASH_DIGITS[Math.min(hashLevel, HASH_DIGITS.length - 1)] ?? HASH_DIGITS[0];
  const hash = createHash('sha256').update(id).digest('hex').slice(0, digits);
  const readable = name.replaceAll(/[^A-Za-z0-9-]+/g, '-').replaceAll(/^-+/g, '');
  return `${readable.slice(0, MAX_SERVER_KEY_LENGTH - 1 - digits).replace(/-+$/, '') || 'x'}-${hash}`;
}
