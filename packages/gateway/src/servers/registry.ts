import { type Finding, createFinding, formatPath, normalizeServerName } from '@behalf/contracts';
import type { CompiledDefinition, EnvRecord, ServerSettings, Settings } from '@behalf/settings';
import type { Log } from '../upstream/upstream.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { mergeDefinition } from './fields.ts';
import {
  type ServerOverride,
  canFallBackToBase,
  compileOverride,
  getSecurityDecision,
  overridesAddress,
} from './overrides.ts';
import {
  EVERY_TENANT,
  type Restriction,
  type ServerIdentity,
  type SnapshotContext,
  createSnapshot,
  getUnavailableReason,
} from '../definitions/snapshot.ts';
import { type StoredDefinition, readWithdrawn } from './stored.ts';
import { compileStored } from './validate.ts';

/**
 * The registry of all servers. Invariants:
 * - The definitions have three layers: the configuration file, overrides of a tenant, and servers stored by users. A
 *   stored server never takes the name of a server in another layer, even if that server is not offered: a user must not
 *   be able to replace a server that other users trust.
 * - While the overrides are unknown, there are no servers. An override may restrict its base server.
 * - Snapshots are frozen. A caller that holds one during an update keeps a consistent old version.
 */
export interface Registry {
  /** Replaces the given layers. The others stay. */
  update(layers: Partial<RegistryLayers>): void;
  find(tenant: string, name: string): ServerSnapshot | undefined;
  get(tenant: string, id: string): ServerSnapshot | undefined;
  list(tenant: string): readonly ServerSnapshot[];
  /** The registered server with the id and revision of this snapshot; undefined if it was changed or removed. */
  findSameRevision(tenant: string, server: ServerSnapshot): ServerSnapshot | undefined;
  /** Records that the inspection of a server of the file was answered with a sign-in challenge. */
  requireSignIn(name: string): void;
  /** The servers of all tenants, including base servers that an override replaces. For the inspection. */
  listAll(): readonly ServerSnapshot[];
  origin(server: ServerSnapshot): ServerOrigin;
  /** Whether a server of the file or an override has this name or one with an equal normal form, offered or not. */
  isReserved(tenant: string, name: string): boolean;
  /** The result of an override without storing it. */
  previewOverride(override: ServerOverride): OverridePreview;
  /** Calls the listener after each update. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

export interface RegistryLayers {
  readonly settings: Settings;
  /** The built-in sample configuration is in use. Its processes do not inherit the environment. */
  readonly isBuiltIn: boolean;
  /** The definitions in the configuration file by name. Overrides are merged into them. */
  readonly definitions: Readonly<Record<string, unknown>>;
  /** `unknown` if the store does not respond. */
  readonly overrides: readonly ServerOverride[] | 'unknown';
  readonly stored: readonly StoredDefinition[];
  /** The names of servers that require a sign-in according to their inspection, not their definition. */
  readonly discoveredSignIns: ReadonlySet<string>;
}

export interface RegistryParts {
  /** Replaces `${NAME}` in definitions of the file. Child processes inherit a few variables. */
  readonly env: EnvRecord;
  /** The restrictions that the gateway enforces. A server with another restriction is not offered. */
  readonly enforcedRestrictions: ReadonlySet<Restriction>;
  /** Whether the last inspection of a server failed. A harmless override then falls back to its base server. */
  readonly hasFailedInspection: (server: ServerSnapshot) => boolean;
  readonly appBearer: SnapshotContext['appBearer'];
  readonly log: Log;
}

/** The definition of a server as written. It contains secrets, so it must not be returned to clients unmasked. */
export interface ServerOrigin {
  readonly definition: unknown;
  /** Absent for servers of the configuration file. */
  readonly version?: number;
  readonly updatedAt?: number;
}

interface OverridePreview {
  /** The definition in the file; undefined if there is none or it cannot be overridden. */
  readonly base: unknown;
  /** The file has no server with this name, so the server exists only through the override. */
  readonly isTenantOnly: boolean;
  /** The merged definition. */
  readonly definition: unknown;
  readonly compiled: CompiledDefinition;
}

interface Entry {
  /** Undefined for an invalid override. It still hides its base server, which may be less restricted. */
  readonly server: ServerSnapshot | undefined;
  /** The server to use while the inspection of `server` fails. */
  readonly base: ServerSnapshot | undefined;
}

interface Contents {
  /** The servers of the file, by name. */
  readonly base: ReadonlyMap<string, ServerSnapshot>;
  /** Overrides and stored servers, by tenant and name. */
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
    // Stored servers change often. A reason that was already logged before the update is not logged again.
    const logOnce = (server: string, reason: string): void => {
      const logKey = JSON.stringify([server, reason]);
      if (!loggedReasons.has(logKey)) parts.log('server_not_offered', { server, reason });
      currentReasons.add(logKey);
    };
    const { settings, overrides = [] } = layers;
    const built =
      settings && overrides !== 'unknown'
        ? compileLayers({ ...layers, settings, overrides }, parts, logOnce)
        : EMPTY_CONTENTS;
    loggedReasons = currentReasons;
    return built;
  }

  function update(changed: Partial<RegistryLayers>): void {
    layers = { ...layers, ...changed };
    contents = build();
    for (const listener of [...listeners]) listener();
  }

  function findEntry(entry: Entry | undefined, key: string): ServerSnapshot | undefined {
    return entry ? currentServer(entry) : contents.base.get(key);
  }

  function find(tenant: string, name: string): ServerSnapshot | undefined {
    return findEntry(contents.tenants.get(tenant)?.get(name), name);
  }

  return {
    update,
    find,
    findSameRevision(tenant, { name, id, revision }) {
      const registered = find(tenant, name);
      return registered?.id === id && registered.revision === revision ? registered : undefined;
    },
    requireSignIn(name) {
      parts.log('server_requires_sign_in', { server: name });
      update({ discoveredSignIns: new Set([...(layers.discoveredSignIns ?? []), name]) });
    },
    get: (tenant, id) => findEntry(contents.byId.get(tenant)?.get(id), id),
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
      // While the layers are unknown, any name may be reserved.
      if (!settings || overrides === 'unknown') return true;
      const normalized = normalizeServerName(name);
      return (
        settings.servers.some(({ normalizedName }) => normalizedName === normalized) ||
        overrides.some((override) => tenantName(override.tenant, override.name) === tenantName(tenant, name))
      );
    },
    previewOverride(override) {
      const { settings, definitions = {} } = layers;
      if (!settings) throw new Error('The configuration is not loaded yet');
      const { name } = override;
      const base = findBase(settings, definitions, name);
      const compile = (): CompiledDefinition => {
        const reject = (reason: string): CompiledDefinition => ({
          ok: false,
          errors: [createFinding(['mcpServers', name], 'operator_only', reason)],
        });
        if (base.problem !== undefined) return reject(base.problem);
        const compiled = compileOverride(override, base.definition, parts.env);
        if (!compiled.ok) return compiled;
        const { toolApproval } = settings.endpoints;
        const { server } = compiled;
        const reason = getUnavailableReason(server, 'config', toolApproval, parts.enforcedRestrictions);
        return reason === null ? compiled : reject(reason);
      };
      return {
        base: base.definition,
        isTenantOnly: !settings.servers.some((server) => server.name === name),
        definition: mergeDefinition(base.definition, override.definition),
        compiled: compile(),
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type LoadedLayers = Partial<RegistryLayers> & { settings: Settings; overrides: readonly ServerOverride[] };

/** The definition that an override of this name modifies, or the reason why it cannot be overridden. */
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
    return isNameTaken ? { problem: NAME_IN_FILE } : {};
  }
  return Object.hasOwn(definitions, name)
    ? { definition: definitions[name] }
    : { problem: 'the base definition is not known' };
}

const NAME_IN_FILE = 'the configuration has a server with this name';

function compileLayers(
  layers: LoadedLayers,
  { env, enforcedRestrictions, appBearer }: RegistryParts,
  logOnce: (server: string, reason: string) => void,
): Contents {
  const { settings, isBuiltIn = false, definitions = {}, overrides, stored = [], discoveredSignIns } = layers;
  const { toolApproval } = settings.endpoints;
  const { allowedDomains, allowedAddresses, operatorAddresses } = settings.mcpSettings;
  const context: SnapshotContext = {
    inheritedEnv: isBuiltIn ? {} : env,
    addressPolicy: JSON.stringify([allowedDomains, allowedAddresses, operatorAddresses]),
    appBearer,
  };
  const base = new Map<string, ServerSnapshot>();
  const tenants = new Map<string, Map<string, Entry>>();
  const byId = new Map<string, Map<string, Entry>>();
  const origins = new Map<ServerSnapshot, ServerOrigin>();

  /** Undefined if the server cannot be offered, which is logged. */
  function buildSnapshot(
    server: ServerSettings,
    identity: ServerIdentity,
    origin: ServerOrigin,
  ): ServerSnapshot | undefined {
    const reason = getUnavailableReason(server, identity.source, toolApproval, enforcedRestrictions);
    if (reason !== null) {
      logOnce(server.name, reason);
      return undefined;
    }
    const snapshot = createSnapshot(server, identity, context);
    if (!snapshot.ok) {
      logOnce(server.name, `${snapshot.field} cannot be used: ${snapshot.code}`);
      return undefined;
    }
    origins.set(snapshot.server, origin);
    return snapshot.server;
  }

  function compileTenantOverride(override: ServerOverride): ServerSnapshot | undefined {
    const { tenant, name, version, updatedAt } = override;
    const { definition: baseDefinition, problem } = findBase(settings, definitions, name);
    const compiled = problem === undefined ? compileOverride(override, baseDefinition, env) : undefined;
    if (!compiled?.ok) {
      logOnce(name, problem ?? formatFindings(compiled?.errors ?? []));
      return undefined;
    }
    const definition = mergeDefinition(baseDefinition, override.definition);
    return buildSnapshot(
      compiled.server,
      {
        ...{ id: name, tenant, source: 'config' },
        securityDecision: getSecurityDecision(override, baseDefinition, definition),
        isAddressOverridden: overridesAddress(baseDefinition, definition),
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
  const fileNames = new Set(settings.servers.map(({ name }) => name));
  for (const server of settings.servers) {
    const { name } = server;
    const definition = Object.hasOwn(definitions, name) ? definitions[name] : {};
    const identity = { id: name, tenant: EVERY_TENANT, source: 'yaml' } as const;
    const effectiveSettings = discoveredSignIns?.has(name) ? { ...server, requiresOAuth: true } : server;
    const snapshot = buildSnapshot(effectiveSettings, identity, { definition });
    if (snapshot) base.set(name, snapshot);
  }

  const overrideNames = new Set(overrides.map(({ tenant, name }) => tenantName(tenant, name)));
  const findStoredProblem = ({ tenant, name, definition }: StoredDefinition): string | undefined => {
    if (reserved.has(normalizeServerName(name))) return NAME_IN_FILE;
    if (overrideNames.has(tenantName(tenant, name)))
      return 'an administrator has defined a server with this name';
    return readWithdrawn(definition) === undefined ? undefined : 'the server is being removed';
  };
  for (const record of stored) {
    const { id, tenant, name, author, securityDecision, definition, version, updatedAt } = record;
    const problem = findStoredProblem(record);
    const compiled = problem === undefined ? compileStored(name, definition) : undefined;
    if (!compiled?.ok) {
      logOnce(name, problem ?? formatFindings(compiled?.errors ?? []));
      continue;
    }
    const identity = { id, tenant, source: 'user', author, securityDecision } as const;
    const server = buildSnapshot(compiled.server, identity, { definition, version, updatedAt });
    if (server) addTenantEntry({ tenant, name, id }, { server, base: undefined });
  }

  for (const override of overrides) {
    const { tenant, name } = override;
    if (!fileNames.has(name) && reserved.has(normalizeServerName(name))) {
      logOnce(name, NAME_IN_FILE);
      continue;
    }
    const server = compileTenantOverride(override);
    const fallback = canFallBackToBase(override) ? base.get(name) : undefined;
    if (server || !fallback) addTenantEntry({ tenant, name, id: name }, { server, base: fallback });
  }
  return { base, tenants, byId, origins };
}

/** Normalized, because names with equal normal forms are ambiguous in tool names. */
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
