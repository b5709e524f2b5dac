import { createHash } from 'node:crypto';
import { formatPath, normalizeServerName } from '@behalf/contracts';
import { type Clock, type Keyring, type Random, SealError, isObject, stableStringify } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type ChangeFeed,
  type ServerStore,
  type StoredServerName,
  type StoredServerRecord,
  type UserVariableStore,
  toServerSealContext,
} from '../ports/index.ts';
import { type ReplicatedValue, createReplicatedValue } from '../replication/replicatedValue.ts';
import type { Log } from '../upstream/upstream.ts';
import type { SecurityDecision } from '../definitions/definition.ts';
import { type Fields, findSecurityChanges, nonSecurityKeys, toFields } from './fields.ts';
import { describeValueDestinations, maskSecrets } from './secrets.ts';
import { compileStored } from './validate.ts';

/** A stored server after decryption. The definition is user input that the reader must still validate. */
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

/**
 * The store of user-defined servers. Does not check the caller's permissions.
 *
 * Invariants:
 * - Definitions are sealed. The seal is bound to the tenant, the id and the user who last changed a security field.
 * - Values that users entered for a server never follow it to another destination: they are deleted before the
 *   definition changes, so that a failure leaves none behind, and afterwards for values entered in between.
 */
export interface StoredServers {
  /** Returns `taken` if the tenant has a server whose normalized name is equal. */
  create(server: {
    /** The id of the draft from which the server is created, if there is one. */
    id?: string;
    tenant: string;
    name: string;
    author: string;
    definition: unknown;
  }): Promise<StoredDefinition | 'taken'>;
  /** If a security field changes, `changedBy` becomes the user whose role OBO trust depends on. */
  change(
    server: { tenant: string; id: string; name: string; definition: unknown; changedBy: string },
    expectedVersion: number,
  ): Promise<'changed' | 'taken' | 'version_conflict' | 'missing'>;
  /**
   * Makes a server unusable in every process; it can then only be removed. The record keeps its id, so that an
   * interrupted removal can continue.
   */
  withdraw(
    server: { tenant: string; id: string; changedBy: string },
    expectedVersion: number,
  ): Promise<'withdrawn' | 'version_conflict' | 'missing'>;
  /** Removes a server and all values that users entered for it. False if it does not exist. */
  remove(tenant: string, id: string): Promise<boolean>;
  /** Reads from the store. Null also if the record cannot be decrypted, which is logged. */
  find(tenant: string, id: string): Promise<StoredDefinition | null>;
  findByName(tenant: string, name: string): Promise<StoredDefinition | null>;
  /** The names and authors of a tenant's servers, including those that cannot be decrypted. */
  listNames(tenant: string): Promise<StoredServerName[]>;
  /** All servers that can be decrypted. The others are logged and omitted. */
  load(): Promise<StoredDefinition[]>;
  /**
   * Calls the listener with all servers, initially and within two seconds after each change. If the store does not
   * respond for 30 seconds, the list is empty: a server that was removed in the meantime must stop serving.
   */
  subscribe(
    listener: (servers: readonly StoredDefinition[]) => void,
  ): ReplicatedValue<readonly StoredDefinition[]>;
}

interface StoredServerParts {
  readonly servers: ServerStore;
  readonly variables: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

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
  const seal = (definition: unknown, context: Parameters<typeof toServerSealContext>[0]) =>
    keyring.seal(JSON.stringify(definition), toServerSealContext(context));

  /** Publishes before the definition changes, so that no cache combines old values with a new destination. */
  const removeUserValues = async (tenant: string, id: string) => {
    await variables.removeByServer(tenant, id);
    await changes.publish({ topic: 'variables', id: '*' });
  };

  return {
    async create({ id = random.id(), tenant, name, author, definition }) {
      requireValidDefinition(name, definition);
      const now = clock.now();
      const outcome = await servers.insert({
        ...{ id, tenant, name, normalizedName: normalizeServerName(name), author, version: 1 },
        configSealed: seal(definition, { tenant, id, securedBy: author }),
        ...{ createdAt: now, updatedAt: now, updatedBy: author },
        ...{ securedBy: author, securedAt: now, securedHash: hashSecurityDecision(author, definition) },
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
          ...{ name, normalizedName: normalizeServerName(name), version: expectedVersion + 1 },
          configSealed: seal(decision.definition, { tenant, id, securedBy }),
          ...{ updatedAt: clock.now(), updatedBy: changedBy },
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
      const configSealed = seal({ [WITHDRAWN]: current.definition }, record);
      const change = { version: expectedVersion + 1, configSealed };
      const outcome = await servers.replace(
        { ...record, ...change, updatedAt: clock.now(), updatedBy: changedBy },
        expectedVersion,
      );
      if (outcome !== 'replaced') return outcome === 'missing' ? 'missing' : 'version_conflict';
      await publishChange(id);
      return 'withdrawn';
    },
    async remove(tenant, id) {
      // An id without a record may belong to a server of the configuration file, whose values must stay.
      if (!(await servers.find(tenant, id))) return false;
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
    subscribe(listener) {
      let lastVersions = '';
      let lastLoaded: readonly StoredDefinition[] = [];
      return createReplicatedValue({
        async read() {
          // While the change feed is out of sync, this runs every second, so it first reads only the versions. If they
          // are unchanged, the same array is returned and the listener is not called.
          const versions = JSON.stringify(await servers.listVersions());
          if (versions === lastVersions) return lastLoaded;
          lastLoaded = await load();
          // Set after loading: a failed load is repeated, and a change during the load appears as new versions.
          lastVersions = versions;
          return lastLoaded;
        },
        ...{ topic: 'servers', fallback: [], changes, clock, log, onChange: listener },
      });
    },
  };
}

type SecuredColumns = Pick<StoredServerRecord, 'securedBy' | 'securedAt' | 'securedHash'>;

/**
 * If only texts or the icon change, the security decision stays, and so do the security fields exactly as stored:
 * `securedHash` covers their original spelling.
 */
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

function pickSecurityFields(definition: unknown): Fields {
  return Object.fromEntries(
    Object.entries(toFields(definition)).filter(([key]) => !nonSecurityKeys.has(key)),
  );
}

/**
 * A hash over the user and the security fields. Excludes secrets: the store holds the hash unencrypted, and a short
 * secret could be guessed from it. Excludes defaults: a new default must not invalidate every hash.
 */
export function hashSecurityDecision(decidedBy: string, definition: unknown): string {
  return createHash('sha256')
    .update(stableStringify([decidedBy, maskSecrets(pickSecurityFields(definition))]))
    .digest('base64url');
}

function requireValidDefinition(name: string, definition: unknown): void {
  const compiled = compileStored(name, definition);
  if (compiled.ok) return;
  throw new GatewayError('MCP_CONFIG_INVALID', {
    errors: compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: formatPath(path) })),
  });
}

/** Wraps the definition of a withdrawn server. `compileStored` rejects the key, so such a definition never compiles. */
const WITHDRAWN = 'withdrawn';

/** The original definition of a withdrawn server; undefined for all other servers. */
export function readWithdrawn(definition: unknown): unknown {
  return isObject(definition) ? definition[WITHDRAWN] : undefined;
}
