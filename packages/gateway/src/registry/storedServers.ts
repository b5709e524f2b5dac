import { formatPath, normalizeServerName } from '@behalf/contracts';
import { SealError, type Clock, type Keyring, type Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { createReplicatedValue, type ReplicatedValue } from '../replication/replicatedValue.ts';
import {
  toServerSealContext,
  type ChangeFeed,
  type ServerStore,
  type StoredServerName,
  type StoredServerRecord,
  type UserVariableStore,
} from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import { findSecurityChanges, toFields, nonSecurityKeys } from './canonicalFields.ts';
import { hashSecurityDecision, pickSecurityFields, type SecurityDecision } from './securityDecision.ts';
import { toWithdrawn, compileStored } from './storedDefinition.ts';
import { describeValueDestinations } from './valueDestinations.ts';

/** A stored server, opened. What it says is a user's word and not yet judged. */
export interface StoredDefinition {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly author: string;
  readonly version: number;
  readonly updatedAt: number;
  readonly definition: unknown;
  readonly securityDecision: SecurityDecision;
}

export interface StoredServerParts {
  readonly servers: ServerStore;
  readonly variables: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Servers that users define. Who may do so is decided before. */
export interface StoredServers {
  /** `taken` when the name, or one that reads the same in tool names, exists in the tenant. */
  create(server: {
    /** Given by who wrote it down elsewhere before. */
    id?: string;
    tenant: string;
    name: string;
    author: string;
    definition: unknown;
  }): Promise<StoredDefinition | 'taken'>;
  /** Who changes more than texts and the picture answers for where calls lead from then on. */
  change(
    server: { tenant: string; id: string; name: string; definition: unknown; changedBy: string },
    expectedVersion: number,
  ): Promise<'changed' | 'taken' | 'version_conflict' | 'missing'>;
  /**
   * From now on it serves nobody, in any process, and can only be removed. What belongs to it is still known by its id:
   * whoever is interrupted while taking that away can go on.
   */
  withdraw(
    server: { tenant: string; id: string; changedBy: string },
    expectedVersion: number,
  ): Promise<'withdrawn' | 'version_conflict' | 'missing'>;
  /** With every value that users entered for it. False when there was none. */
  remove(tenant: string, id: string): Promise<boolean>;
  /** As the store has it now. Null as well when it cannot be opened, which is logged. */
  find(tenant: string, id: string): Promise<StoredDefinition | null>;
  findByName(tenant: string, name: string): Promise<StoredDefinition | null>;
  /** The names and authors of a tenant's servers, also of those that cannot be opened. */
  listNames(tenant: string): Promise<StoredServerName[]>;
  /** All that can be opened; one that cannot is logged and left out. */
  load(): Promise<StoredDefinition[]>;
  /**
   * Calls back with all of them now and after each change, at most two seconds late. When the store has not answered
   * for half a minute the answer is none: what was taken away meanwhile must not go on serving.
   */
  subscribe(
    listener: (servers: readonly StoredDefinition[]) => void,
  ): ReplicatedValue<readonly StoredDefinition[]>;
}

const NO_SERVERS: readonly StoredDefinition[] = [];

export function createStoredServers(parts: StoredServerParts): StoredServers {
  const { servers, variables, keyring, changes, clock, random, log } = parts;

  function openRecord(record: StoredServerRecord): StoredDefinition[] {
    try {
      const { id, tenant, name, author, version, updatedAt, configSealed } = record;
      const definition: unknown = JSON.parse(keyring.open(configSealed, toServerSealContext(record)));
      const isIntact = record.securedHash === hashSecurityDecision(record.securedBy, definition);
      const securityDecision = { decidedBy: record.securedBy, isIntact };
      return [{ id, tenant, name, author, version, updatedAt, definition, securityDecision }];
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('stored_server_unreadable', { server: record.name, reason });
      return [];
    }
  }

  const openOrNull = (record: StoredServerRecord | null) => (record ? (openRecord(record)[0] ?? null) : null);
  const load = async () => (await servers.list()).flatMap(openRecord);
  const publishChange = (id: string) => changes.publish({ topic: 'servers', id });

  /** Also where they are remembered: told before the definition is, so that nobody joins old values to a new place. */
  const removeUserValues = async (tenant: string, id: string) => {
    await variables.removeByServer(tenant, id);
    await changes.publish({ topic: 'variables', id: '*' });
  };

  return {
    async create({ id = random.id(), tenant, name, author, definition }) {
      requireValidDefinition(name, definition);
      const now = clock.now();
      const outcome = await servers.insert({
        id,
        tenant,
        name,
        normalizedName: normalizeServerName(name),
        author,
        version: 1,
        configSealed: keyring.seal(
          JSON.stringify(definition),
          toServerSealContext({ tenant, id, securedBy: author }),
        ),
        createdAt: now,
        updatedAt: now,
        updatedBy: author,
        securedBy: author,
        securedAt: now,
        securedHash: hashSecurityDecision(author, definition),
      });
      if (outcome === 'taken') return 'taken';
      await publishChange(id);
      const securityDecision = { decidedBy: author, isIntact: true };
      return { id, tenant, name, author, version: 1, updatedAt: now, definition, securityDecision };
    },
    async change({ tenant, id, name, definition, changedBy }, expectedVersion) {
      requireValidDefinition(name, definition);
      const record = await servers.find(tenant, id);
      if (!record) return 'missing';
      if (record.version !== expectedVersion) return 'version_conflict';
      // Who changes where users' values go must not get those that were entered for another place. Taken away before,
      // so that no failure leaves them behind, and after, for who enters one meanwhile.
      const current = openOrNull(record);
      const hasMoved =
        !current || describeValueDestinations(current.definition) !== describeValueDestinations(definition);
      const decision = decideSecurity(current, definition, changedBy, clock.now());
      const { securedBy = record.securedBy } = decision.securedColumns;
      if (hasMoved) await removeUserValues(tenant, id);
      const outcome = await servers.replace(
        {
          ...record,
          ...decision.securedColumns,
          name,
          normalizedName: normalizeServerName(name),
          version: expectedVersion + 1,
          configSealed: keyring.seal(
            JSON.stringify(decision.definition),
            toServerSealContext({ tenant, id, securedBy }),
          ),
          updatedAt: clock.now(),
          updatedBy: changedBy,
        },
        expectedVersion,
      );
      if (outcome !== 'replaced') return outcome;
      if (hasMoved) await removeUserValues(tenant, id);
      await publishChange(id);
      return 'changed';
    },
    async withdraw({ tenant, id, changedBy }, expectedVersion) {
      const record = await servers.find(tenant, id);
      const current = openOrNull(record);
      if (!record || !current) return 'missing';
      const text = JSON.stringify(toWithdrawn(current.definition));
      const outcome = await servers.replace(
        {
          ...record,
          version: expectedVersion + 1,
          configSealed: keyring.seal(text, toServerSealContext(record)),
          updatedAt: clock.now(),
          updatedBy: changedBy,
        },
        expectedVersion,
      );
      if (outcome !== 'replaced') return outcome === 'missing' ? 'missing' : 'version_conflict';
      await publishChange(id);
      return 'withdrawn';
    },
    async remove(tenant, id) {
      // An id that is no stored server's may be one of the file, whose values stay.
      if (!(await servers.find(tenant, id))) return false;
      // Before, so that no failure leaves them behind without a server to remove; after, for who enters one meanwhile.
      await removeUserValues(tenant, id);
      const removed = await servers.remove(tenant, id);
      await removeUserValues(tenant, id);
      await publishChange(id);
      return removed;
    },
    find: async (tenant, id) => openOrNull(await servers.find(tenant, id)),
    findByName: async (tenant, name) => openOrNull(await servers.findByName(tenant, name)),
    listNames: (tenant) => servers.listNames(tenant),
    load,
    subscribe: (listener) => subscribeToAll({ ...parts, load }, listener),
  };
}

type SecuredColumns = Pick<StoredServerRecord, 'securedBy' | 'securedAt' | 'securedHash'>;

/** Texts and the picture change nobody's word; the rest then stays as it was written, letter by letter. */
function decideSecurity(
  current: StoredDefinition | null,
  definition: unknown,
  changedBy: string,
  now: number,
): { definition: unknown; securedColumns: Partial<SecuredColumns> } {
  if (current && findSecurityChanges(current.definition, definition).length === 0) {
    const textFields = Object.entries(toFields(definition)).filter(([key]) => nonSecurityKeys.has(key));
    return {
      definition: { ...pickSecurityFields(current.definition), ...Object.fromEntries(textFields) },
      securedColumns: {},
    };
  }
  return {
    definition,
    securedColumns: {
      securedBy: changedBy,
      securedAt: now,
      securedHash: hashSecurityDecision(changedBy, definition),
    },
  };
}

function requireValidDefinition(name: string, definition: unknown): void {
  const compiled = compileStored(name, definition);
  if (compiled.ok) return;
  throw new GatewayError('MCP_CONFIG_INVALID', {
    errors: compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: formatPath(path) })),
  });
}

function subscribeToAll(
  { servers, changes, clock, log, load }: StoredServerParts & Pick<StoredServers, 'load'>,
  listener: (servers: readonly StoredDefinition[]) => void,
): ReplicatedValue<readonly StoredDefinition[]> {
  let lastVersions = '';
  let lastLoaded = NO_SERVERS;
  let lastEmitted: readonly StoredDefinition[] | null = null;
  return createReplicatedValue({
    topic: 'servers',
    async read() {
      // Cheap enough to be asked every other second while nobody can say that nothing has changed.
      const versions = JSON.stringify(await servers.listVersions());
      if (versions === lastVersions) return lastLoaded;
      lastLoaded = await load();
      // Only now: a failed load is repeated. A change in between shows as another list of versions.
      lastVersions = versions;
      return lastLoaded;
    },
    fallback: NO_SERVERS,
    changes,
    clock,
    log,
    onChange(value) {
      if (value === lastEmitted) return;
      lastEmitted = value;
      listener(value);
    },
  });
}
