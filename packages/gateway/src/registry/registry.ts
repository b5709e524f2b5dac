import { formatPath, normalizeServerName, type Finding } from '@behalf/contracts';
import type { EnvRecord, ServerSettings, Settings } from '@behalf/settings';
import type { Log } from '../upstream/parts.ts';
import { compileOverride, mayStepBack, type ServerOverride } from './override.ts';
import type { ServerSnapshot } from './server.ts';
import { EVERY_TENANT, snapshotOf, type ServerIdentity } from './snapshot.ts';
import { compileStored } from './storedDefinition.ts';
import type { StoredDefinition } from './storedServers.ts';
import { whyNotOffered, type Restriction } from './whyNotOffered.ts';

/** Where definitions come from. */
export interface RegistryLayers {
  readonly settings: Settings;
  /** The sample that runs without a file: nothing of our environment reaches it. */
  readonly isBuiltIn: boolean;
  /** The plain definitions of the file by name: what overrides are laid over. */
  readonly definitions: Readonly<Record<string, unknown>>;
  readonly overrides: readonly ServerOverride[];
  readonly stored: readonly StoredDefinition[];
}

export interface RegistryParts {
  /** Fills `${NAME}` in overrides; child processes get a handful of names of it. */
  readonly env: EnvRecord;
  /** What the rest of the gateway carries out. A server that asks for more is not offered. */
  readonly enforced: ReadonlySet<Restriction>;
  /** Whether the last inspection of a server failed: then a harmless override steps back behind its base. */
  readonly isFailed: (server: ServerSnapshot) => boolean;
  readonly log: Log;
}

/** What servers there are. Every answer is a frozen snapshot: who holds one across a change keeps the old one whole. */
export interface Registry {
  /** Replaces the layers that are named; the others stay. */
  update(layers: Partial<RegistryLayers>): void;
  find(tenant: string, name: string): ServerSnapshot | undefined;
  get(tenant: string, id: string): ServerSnapshot | undefined;
  list(tenant: string): readonly ServerSnapshot[];
  /** Of all tenants, with the bases that overrides stand before: what is to be inspected. */
  all(): readonly ServerSnapshot[];
  /** Runs after each update. Returns how to stop. */
  onChange(listener: () => void): () => void;
}

interface Entry {
  /** Undefined: an override that cannot be carried out. It still hides its base, which allows more than it would. */
  readonly server: ServerSnapshot | undefined;
  /** What serves while this fails. */
  readonly base: ServerSnapshot | undefined;
}

interface Contents {
  /** Of the file, for every tenant, by name. */
  readonly base: ReadonlyMap<string, ServerSnapshot>;
  /** Of one tenant alone, by tenant and name. */
  readonly tenants: ReadonlyMap<string, ReadonlyMap<string, Entry>>;
  readonly byId: ReadonlyMap<string, ReadonlyMap<string, Entry>>;
}

const nothing: Contents = { base: new Map(), tenants: new Map(), byId: new Map() };

export function createRegistry(parts: RegistryParts): Registry {
  const listeners = new Set<() => void>();
  let layers: Partial<RegistryLayers> = {};
  let contents = nothing;
  let told = new Set<string>();

  const current = ({ server, base }: Entry): ServerSnapshot | undefined =>
    base && server && parts.isFailed(server) ? base : server;

  function build(): Contents {
    const telling = new Set<string>();
    const tell = (server: string, reason: string): void => {
      const line = JSON.stringify([server, reason]);
      // A stored server changes often; what is wrong with the others was said the first time.
      if (!told.has(line)) parts.log('server_not_offered', { server, reason });
      telling.add(line);
    };
    const built = layers.settings
      ? compileLayers({ ...layers, settings: layers.settings }, parts, tell)
      : nothing;
    told = telling;
    return built;
  }

  return {
    update(changed) {
      layers = { ...layers, ...changed };
      contents = build();
      for (const listener of [...listeners]) listener();
    },
    find(tenant, name) {
      const own = contents.tenants.get(tenant)?.get(name);
      return own ? current(own) : contents.base.get(name);
    },
    get(tenant, id) {
      const own = contents.byId.get(tenant)?.get(id);
      return own ? current(own) : contents.base.get(id);
    },
    list(tenant) {
      const own = contents.tenants.get(tenant);
      if (!own) return [...contents.base.values()];
      const merged = new Map(contents.base);
      for (const [name, entry] of own) {
        const server = current(entry);
        if (server) merged.set(name, server);
        else merged.delete(name);
      }
      return [...merged.values()];
    },
    all: () => [
      ...contents.base.values(),
      ...[...contents.tenants.values()].flatMap((own) =>
        [...own.values()].flatMap(({ server }) => server ?? []),
      ),
    ],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type Tell = (server: string, reason: string) => void;
type Given = Partial<RegistryLayers> & { settings: Settings };

function compileLayers(layers: Given, { env, enforced }: RegistryParts, tell: Tell): Contents {
  const { settings, isBuiltIn = false, definitions = {}, overrides = [], stored = [] } = layers;
  const inheritedEnv = isBuiltIn ? {} : env;
  const { allowedDomains, allowedAddresses, operatorAddresses } = settings.mcpSettings;
  const addressPolicy = JSON.stringify([allowedDomains, allowedAddresses, operatorAddresses]);
  const base = new Map<string, ServerSnapshot>();
  const tenants = new Map<string, Map<string, Entry>>();
  const byId = new Map<string, Map<string, Entry>>();

  function offer(server: ServerSettings, identity: ServerIdentity): ServerSnapshot | undefined {
    const reason = whyNotOffered(server, identity.source, settings.endpoints.toolApproval, enforced);
    if (reason !== null) {
      tell(server.name, reason);
      return undefined;
    }
    const snapshot = snapshotOf(server, identity, { inheritedEnv, addressPolicy });
    if (snapshot.ok) return snapshot.server;
    tell(server.name, `${snapshot.field} cannot be used: ${snapshot.code}`);
    return undefined;
  }

  /** Undefined when it cannot be carried out, which was told. */
  function overriding(override: ServerOverride): ServerSnapshot | undefined {
    const { tenant, name } = override;
    const isInFile = fileTypes.has(name);
    if (fileTypes.get(name) === 'stdio') tell(name, 'an override cannot replace a process');
    else if (isInFile && !Object.hasOwn(definitions, name))
      tell(name, 'the definition it overrides is not known');
    else {
      const compiled = compileOverride(override, isInFile ? definitions[name] : undefined, env);
      if (compiled.ok) return offer(compiled.server, { id: name, tenant, source: 'config' });
      tell(name, explain(compiled.errors));
    }
    return undefined;
  }

  function addOwn({ tenant, name, id }: { tenant: string; name: string; id: string }, entry: Entry): void {
    grow(tenants, tenant).set(name, entry);
    grow(byId, tenant).set(id, entry);
  }

  const reserved = new Set(settings.servers.map(({ normalizedName }) => normalizedName));
  const fileTypes = new Map(settings.servers.map(({ name, type }) => [name, type]));
  for (const server of settings.servers) {
    const snapshot = offer(server, { id: server.name, tenant: EVERY_TENANT, source: 'yaml' });
    if (snapshot) base.set(server.name, snapshot);
  }

  const administered = new Set(overrides.map(({ tenant, name }) => tenantName(tenant, name)));
  for (const { id, tenant, name, author, definition } of stored) {
    // The operator's and the administrator's word, also where their server is not offered: nobody can put a server of
    // their own in the place of one that people trust.
    if (reserved.has(normalizeServerName(name))) {
      tell(name, 'a server of the configuration has this name');
      continue;
    }
    if (administered.has(tenantName(tenant, name))) {
      tell(name, 'a server of an administrator has this name');
      continue;
    }
    const compiled = compileStored(name, definition);
    if (!compiled.ok) tell(name, explain(compiled.errors));
    else {
      const server = offer(compiled.server, { id, tenant, source: 'user', author });
      if (server) addOwn({ tenant, name, id }, { server, base: undefined });
    }
  }

  for (const override of overrides) {
    const { tenant, name } = override;
    if (!fileTypes.has(name) && reserved.has(normalizeServerName(name))) {
      tell(name, 'a server of the configuration has this name');
      continue;
    }
    const server = overriding(override);
    const behind = mayStepBack(override) ? base.get(name) : undefined;
    if (server || !behind) addOwn({ tenant, name, id: name }, { server, base: behind });
  }
  return { base, tenants, byId };
}

/** Names that read the same in tool names are one. */
function tenantName(tenant: string, name: string): string {
  return JSON.stringify([tenant, normalizeServerName(name)]);
}

function grow<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const inner = map.get(key) ?? new Map<string, V>();
  map.set(key, inner);
  return inner;
}

function explain(errors: readonly Finding[]): string {
  return errors.map(({ path, message }) => `${formatPath(path)} ${message}`).join('; ');
}
