import { type Finding, createFinding, formatPath, normalizeServerName } from '@behalf/contracts';
import type { CompiledDefinition, EnvRecord, ServerSettings, Settings } from '@behalf/settings';
import type { Log } from '../upstream/upstream.ts';
import type { ServerSnapshot } from './definition.ts';
import {
  type ServerOverride,
  canFallBackToBase,
  compileOverride,
  getSecurityDecision,
  mergeDefinition,
  overridesAddress,
} from './overrides.ts';
import {
  EVERY_TENANT,
  type Restriction,
  type ServerIdentity,
  type SnapshotContext,
  createSnapshot,
  getUnavailableReason,
} from './snapshot.ts';
import { type StoredDefinition, compileStored, readWithdrawn } from './stored.ts';

/** Where definitions come from. */
export interface RegistryLayers {
  readonly settings: Settings;
  /** The sample that runs without a file: nothing of our environment reaches it. */
  readonly isBuiltIn: boolean;
  /** The plain definitions of the file by name: what overrides are laid over. */
  readonly definitions: Readonly<Record<string, unknown>>;
  /**
   * `unknown` while nobody can say: then there is no server at all. Without the override that narrows it, one would
   * allow more than its administrator does.
   */
  readonly overrides: readonly ServerOverride[] | 'unknown';
  readonly stored: readonly StoredDefinition[];
  /** Names of servers of the file that were found to ask for a sign-in although nothing is said of it. */
  readonly discoveredSignIns: ReadonlySet<string>;
}

export interface RegistryParts {
  /** Fills `${NAME}` of the file where an override leaves it; child processes get a handful of names of it. */
  readonly env: EnvRecord;
  /** What the rest of the gateway carries out. A server that asks for more is not offered. */
  readonly enforcedRestrictions: ReadonlySet<Restriction>;
  /** Whether the last inspection of a server failed: then a harmless override steps back behind its base. */
  readonly hasFailedInspection: (server: ServerSnapshot) => boolean;
  /** What connections of a server that is called with a token of ours present. */
  readonly appBearer: SnapshotContext['appBearer'];
  readonly log: Log;
}

/** Where a server comes from, as it was written: with its secrets, so never an answer to anybody as it is. */
export interface ServerOrigin {
  readonly definition: unknown;
  /** Of what was stored; a file has none. */
  readonly version?: number;
  readonly updatedAt?: number;
}

export interface OverridePreview {
  /** What it is laid over; undefined where the file has no such server, or none that can be overridden. */
  readonly base: unknown;
  /** The file has no server of this name: without the override there is none. */
  readonly isTenantOnly: boolean;
  /** The whole definition. */
  readonly definition: unknown;
  /** Whether it can be carried out. */
  readonly compiled: CompiledDefinition;
}

/** What servers there are. Every answer is a frozen snapshot: who holds one across a change keeps the old one whole. */
export interface Registry {
  /** Replaces the layers that are named; the others stay. */
  update(layers: Partial<RegistryLayers>): void;
  find(tenant: string, name: string): ServerSnapshot | undefined;
  get(tenant: string, id: string): ServerSnapshot | undefined;
  list(tenant: string): readonly ServerSnapshot[];
  /** Of all tenants, with the bases that overrides stand before: what is to be inspected. */
  listAll(): readonly ServerSnapshot[];
  origin(server: ServerSnapshot): ServerOrigin;
  /** Whether a server of the file or of an administrator has this name, offered or not, or one that reads the same. */
  isReserved(tenant: string, name: string): boolean;
  /** What would become of an override. */
  previewOverride(override: ServerOverride): OverridePreview;
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
  readonly origins: ReadonlyMap<ServerSnapshot, ServerOrigin>;
}

const EMPTY_CONTENTS: Contents = { base: new Map(), tenants: new Map(), byId: new Map(), origins: new Map() };

export function createRegistry(parts: RegistryParts): Registry {
  const listeners = new Set<() => void>();
  let layers: Partial<RegistryLayers> = {};
  let contents = EMPTY_CONTENTS;
  let loggedReasons = new Set<string>();

  const currentServer = ({ server, base }: Entry): ServerSnapshot | undefined =>
    base && server && parts.hasFailedInspection(server) ? base : server;

  function build(): Contents {
    const currentReasons = new Set<string>();
    const logOnce = (server: string, reason: string): void => {
      const logKey = JSON.stringify([server, reason]);
      // A stored server changes often; what is wrong with the others was said the first time.
      if (!loggedReasons.has(logKey)) parts.log('server_not_offered', { server, reason });
      currentReasons.add(logKey);
    };
    const { settings, overrides } = layers;
    const built =
      settings && overrides !== 'unknown'
        ? compileLayers({ ...layers, settings, overrides: overrides ?? [] }, parts, logOnce)
        : EMPTY_CONTENTS;
    loggedReasons = currentReasons;
    return built;
  }

  return {
    update(changed) {
      layers = { ...layers, ...changed };
      contents = build();
      for (const listener of [...listeners]) listener();
    },
    find(tenant, name) {
      const entry = contents.tenants.get(tenant)?.get(name);
      return entry ? currentServer(entry) : contents.base.get(name);
    },
    get(tenant, id) {
      const entry = contents.byId.get(tenant)?.get(id);
      return entry ? currentServer(entry) : contents.base.get(id);
    },
    list(tenant) {
      const tenantEntries = contents.tenants.get(tenant);
      if (!tenantEntries) return [...contents.base.values()];
      const merged = new Map(contents.base);
      for (const [name, entry] of tenantEntries) {
        const server = currentServer(entry);
        if (server) merged.set(name, server);
        else merged.delete(name);
      }
      return [...merged.values()];
    },
    listAll: () => [
      ...contents.base.values(),
      ...[...contents.tenants.values()].flatMap((entries) =>
        [...entries.values()].flatMap(({ server }) => server ?? []),
      ),
    ],
    origin: (server) => contents.origins.get(server) ?? { definition: {} },
    isReserved(tenant, name) {
      const { settings, overrides = [] } = layers;
      // Nobody knows: then any name may be one of theirs.
      if (!settings || overrides === 'unknown') return true;
      const normalized = normalizeServerName(name);
      return (
        settings.servers.some((server) => server.normalizedName === normalized) ||
        overrides.some((override) => tenantName(override.tenant, override.name) === tenantName(tenant, name))
      );
    },
    previewOverride(override) {
      const { settings, definitions = {} } = layers;
      if (!settings) throw new Error('The configuration is not loaded yet');
      const base = findBase(settings, definitions, override.name);
      const preview = {
        base: base.definition,
        isTenantOnly: !settings.servers.some(({ name }) => name === override.name),
        definition: mergeDefinition(base.definition, override.definition),
      };
      if (base.problem !== undefined) return { ...preview, compiled: rejectOverride(override, base.problem) };
      const compiled = compileOverride(override, base.definition, parts.env);
      if (!compiled.ok) return { ...preview, compiled };
      const { toolApproval } = settings.endpoints;
      const reason = getUnavailableReason(
        compiled.server,
        'config',
        toolApproval,
        parts.enforcedRestrictions,
      );
      return { ...preview, compiled: reason === null ? compiled : rejectOverride(override, reason) };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type LogReason = (server: string, reason: string) => void;
type LoadedLayers = Partial<RegistryLayers> & { settings: Settings; overrides: readonly ServerOverride[] };

/** What an override of this name is laid over, or why there can be none. */
function findBase(
  settings: Settings,
  definitions: RegistryLayers['definitions'],
  name: string,
): { readonly definition?: unknown; readonly problem?: string } {
  const server = settings.servers.find((candidate) => candidate.name === name);
  if (server?.type === 'stdio') return { problem: 'an override cannot replace a process' };
  if (!server) {
    const normalized = normalizeServerName(name);
    const isNameTaken = settings.servers.some((candidate) => candidate.normalizedName === normalized);
    return isNameTaken ? { problem: 'the configuration has a server with this name' } : {};
  }
  return Object.hasOwn(definitions, name)
    ? { definition: definitions[name] }
    : { problem: 'the base definition is not known' };
}

function rejectOverride({ name }: ServerOverride, reason: string): CompiledDefinition {
  return { ok: false, errors: [createFinding(['mcpServers', name], 'operator_only', reason)] };
}

function compileLayers(
  layers: LoadedLayers,
  { env, enforcedRestrictions, appBearer }: RegistryParts,
  logOnce: LogReason,
): Contents {
  const { settings, isBuiltIn = false, definitions = {}, overrides, stored = [], discoveredSignIns } = layers;
  const inheritedEnv = isBuiltIn ? {} : env;
  const { allowedDomains, allowedAddresses, operatorAddresses } = settings.mcpSettings;
  const addressPolicy = JSON.stringify([allowedDomains, allowedAddresses, operatorAddresses]);
  const base = new Map<string, ServerSnapshot>();
  const tenants = new Map<string, Map<string, Entry>>();
  const byId = new Map<string, Map<string, Entry>>();
  const origins = new Map<ServerSnapshot, ServerOrigin>();

  function buildSnapshot(
    server: ServerSettings,
    identity: ServerIdentity,
    origin: ServerOrigin,
  ): ServerSnapshot | undefined {
    const reason = getUnavailableReason(
      server,
      identity.source,
      settings.endpoints.toolApproval,
      enforcedRestrictions,
    );
    if (reason !== null) {
      logOnce(server.name, reason);
      return undefined;
    }
    const snapshot = createSnapshot(server, identity, { inheritedEnv, addressPolicy, appBearer });
    if (snapshot.ok) {
      origins.set(snapshot.server, origin);
      return snapshot.server;
    }
    logOnce(server.name, `${snapshot.field} cannot be used: ${snapshot.code}`);
    return undefined;
  }

  /** Undefined when it cannot be carried out, which was told. */
  function compileTenantOverride(override: ServerOverride): ServerSnapshot | undefined {
    const { tenant, name, version, updatedAt } = override;
    const base = findBase(settings, definitions, name);
    if (base.problem !== undefined) {
      logOnce(name, base.problem);
      return undefined;
    }
    const compiled = compileOverride(override, base.definition, env);
    if (!compiled.ok) {
      logOnce(name, formatFindings(compiled.errors));
      return undefined;
    }
    const definition = mergeDefinition(base.definition, override.definition);
    return buildSnapshot(
      compiled.server,
      {
        ...{ id: name, tenant, source: 'config' },
        securityDecision: getSecurityDecision(override, base.definition, definition),
        isAddressOverridden: overridesAddress(base.definition, definition),
      },
      {
        definition,
        ...(version !== undefined && { version }),
        ...(updatedAt !== undefined && { updatedAt }),
      },
    );
  }

  function addTenantEntry(
    { tenant, name, id }: { tenant: string; name: string; id: string },
    entry: Entry,
  ): void {
    getOrCreateMap(tenants, tenant).set(name, entry);
    getOrCreateMap(byId, tenant).set(id, entry);
  }

  const reserved = new Set(settings.servers.map(({ normalizedName }) => normalizedName));
  const fileTypes = new Map(settings.servers.map(({ name, type }) => [name, type]));
  for (const server of settings.servers) {
    const definition = Object.hasOwn(definitions, server.name) ? definitions[server.name] : {};
    const identity = { id: server.name, tenant: EVERY_TENANT, source: 'yaml' } as const;
    const effectiveSettings = discoveredSignIns?.has(server.name)
      ? { ...server, requiresOAuth: true }
      : server;
    const snapshot = buildSnapshot(effectiveSettings, identity, { definition });
    if (snapshot) base.set(server.name, snapshot);
  }

  const overrideNames = new Set(overrides.map(({ tenant, name }) => tenantName(tenant, name)));
  for (const { id, tenant, name, author, securityDecision, definition, version, updatedAt } of stored) {
    // The operator's and the administrator's word, also where their server is not offered: nobody can put a server of
    // their own in the place of one that people trust.
    if (reserved.has(normalizeServerName(name))) {
      logOnce(name, 'the configuration has a server with this name');
      continue;
    }
    if (overrideNames.has(tenantName(tenant, name))) {
      logOnce(name, 'an administrator has defined a server with this name');
      continue;
    }
    if (readWithdrawn(definition) !== undefined) {
      logOnce(name, 'the server is being removed');
      continue;
    }
    const compiled = compileStored(name, definition);
    if (!compiled.ok) logOnce(name, formatFindings(compiled.errors));
    else {
      const identity = { id, tenant, source: 'user', author, securityDecision } as const;
      const server = buildSnapshot(compiled.server, identity, { definition, version, updatedAt });
      if (server) addTenantEntry({ tenant, name, id }, { server, base: undefined });
    }
  }

  for (const override of overrides) {
    const { tenant, name } = override;
    if (!fileTypes.has(name) && reserved.has(normalizeServerName(name))) {
      logOnce(name, 'the configuration has a server with this name');
      continue;
    }
    const server = compileTenantOverride(override);
    const fallback = canFallBackToBase(override) ? base.get(name) : undefined;
    if (server || !fallback) addTenantEntry({ tenant, name, id: name }, { server, base: fallback });
  }
  return { base, tenants, byId, origins };
}

/** Names that read the same in tool names are one. */
function tenantName(tenant: string, name: string): string {
  return JSON.stringify([tenant, normalizeServerName(name)]);
}

function getOrCreateMap<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const inner = map.get(key) ?? new Map<string, V>();
  map.set(key, inner);
  return inner;
}

function formatFindings(errors: readonly Finding[]): string {
  return errors.map(({ path, message }) => `${formatPath(path)} ${message}`).join('; ');
}
