import { type Finding, type Path, createFinding, formatPath, normalizeServerName } from '@behalf/contracts';
import { type Clock, type Keyring, type Random, SealError } from '@behalf/kernel';
import { type CompiledDefinition, compileDefinition, parseTemplate } from '@behalf/settings';
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
import { type SecurityDecision, hashSecurityDecision, pickSecurityFields } from './definition.ts';
import {
  describeValueDestinations,
  findSecurityChanges,
  isMapping,
  nonSecurityKeys,
  toFields,
} from './fields.ts';

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

interface StoredServerParts {
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

/**
 * What a user may say of a server. Everything else is the operator's: what runs on this machine and which files of it
 * are read, through which proxy traffic goes, how long it may take, what other users must enter.
 */
export const inputKeys: ReadonlySet<string> = new Set([
  'type',
  'url',
  'headers',
  'title',
  'description',
  'iconPath',
  'oauth',
  'apiKey',
  'obo',
]);

/** Parts of `oauth` and `obo` that would let a user choose whom a token is for. */
const operatorKeys: Readonly<Record<string, readonly string[]>> = {
  oauth: [
    'audience',
    'forward_audience_on_refresh',
    'resource',
    'legacyAuthDiscovery',
    'skip_code_challenge_check',
    'grant',
    'private_key_file',
    'private_key_id',
    'private_key_alg',
    'authorize_params',
    'dpop',
  ],
  obo: ['provider', 'grant', 'audience', 'resource'],
};

/** Endpoints whose query would be another way to say the same: `audience`, `resource`, `request_uri`, `claims` and more. */
const endpointKeys = ['authorization_url', 'token_url', 'revocation_endpoint'] as const;

/** Never rendered, so nothing in them is a placeholder. */
const literalTextKeys = new Set(['title', 'description', 'iconPath']);

/**
 * A definition that a user stored, under the stricter tier: no process, no `${...}`, no placeholder of the identity,
 * the login or the request; only variables that it declares itself. Refused as a whole, never trimmed: a definition
 * without its forbidden parts is not the one its author meant.
 */
export function compileStored(name: string, value: unknown): CompiledDefinition {
  const errors = findTierProblems(value, ['mcpServers', name]);
  if (errors.length > 0) return { ok: false, errors };
  // No environment: even a text that was overlooked above has nothing to expand to.
  return compileDefinition(name, value, { env: {} });
}

/** Where the definition of a server that is being removed waits. No user can say it, so it never compiles. */
const WITHDRAWN = 'withdrawn';

function toWithdrawn(definition: unknown): unknown {
  return { [WITHDRAWN]: definition };
}

/** Of a server that is being removed what it was; undefined of all others. */
export function readWithdrawn(definition: unknown): unknown {
  return isMapping(definition) ? definition[WITHDRAWN] : undefined;
}

function findTierProblems(value: unknown, path: Path): Finding[] {
  if (!isMapping(value)) return [createFinding(path, 'wrong_type', 'must be a mapping')];
  const errors: Finding[] = [];
  for (const [key, item] of Object.entries(value)) {
    const fieldPath = [...path, key];
    if (!inputKeys.has(key) || (key === 'type' && item === 'stdio')) {
      errors.push(createFinding(fieldPath, 'operator_only', 'can be set by the operator only', 'remove it'));
    } else if (!literalTextKeys.has(key)) errors.push(...findTextProblems(item, fieldPath));
    const reserved = operatorKeys[key];
    if (reserved && isMapping(item)) errors.push(...findReservedProblems(item, reserved, fieldPath));
  }
  if (isMapping(value['oauth'])) errors.push(...findEndpointProblems(value['oauth'], [...path, 'oauth']));
  return errors;
}

function findReservedProblems(
  section: Record<string, unknown>,
  reserved: readonly string[],
  path: Path,
): Finding[] {
  return reserved
    .filter((key) => Object.hasOwn(section, key))
    .map((key) =>
      createFinding([...path, key], 'operator_only', 'can be set by the operator only', 'remove it'),
    );
}

function findEndpointProblems(oauth: Record<string, unknown>, path: Path): Finding[] {
  return endpointKeys.flatMap((key) => {
    const text = oauth[key];
    return typeof text === 'string' && text.includes('?')
      ? [createFinding([...path, key], 'operator_only', 'must not contain a query', 'remove the query')]
      : [];
  });
}

/** Of every text below: whether it asks for something that is not a user's to ask for. */
function findTextProblems(value: unknown, path: Path): Finding[] {
  if (typeof value === 'string') return findPlaceholderProblem(value, path);
  if (Array.isArray(value)) return value.flatMap((item, index) => findTextProblems(item, [...path, index]));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => findTextProblems(item, [...path, key]));
}

function findPlaceholderProblem(text: string, path: Path): Finding[] {
  const parsed = parseTemplate(text);
  // A text that is no template is told by whoever compiles it; but never with a `${` in it.
  const hasForbidden = parsed.ok
    ? parsed.template.some(({ kind }) => kind !== 'literal' && kind !== 'userVar')
    : text.includes('${') || text.includes('LIBRECHAT_');
  return hasForbidden
    ? [
        createFinding(
          path,
          'placeholder_forbidden',
          'may contain only user variables, no placeholders for the environment, the identity or the request',
          'remove the placeholder',
        ),
      ]
    : [];
}
