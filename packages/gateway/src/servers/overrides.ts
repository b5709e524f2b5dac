import { type Finding, type Path, createFinding } from '@behalf/contracts';
import { type Clock, type Keyring, SealError } from '@behalf/kernel';
import {
  type CompiledDefinition,
  type EnvRecord,
  compileDefinition,
  isUserToken,
  parseTemplate,
} from '@behalf/settings';
import {
  type ChangeFeed,
  type OverrideRecord,
  type OverrideStore,
  overrideId,
  toOverrideSealContext,
} from '../ports/index.ts';
import { type ReplicatedValue, createReplicatedValue } from '../replication/replicatedValue.ts';
import type { Log } from '../upstream/upstream.ts';
import type { SecurityDecision } from './definition.ts';
import { findChangedFields, findSecurityChanges, isMapping, toFields } from './fields.ts';
import { findChangedBindings, findInheritedSecrets } from './secretFields.ts';

/** An administrator's change to a server of the file, for one tenant; or a server that only this tenant has. */
export interface ServerOverride {
  readonly tenant: string;
  readonly name: string;
  /** As in the file, but only what differs. One that could not be read is null, which hides the server it was for. */
  readonly definition: unknown;
  readonly version?: number;
  readonly updatedAt?: number;
  /** Who last decided where its calls lead. Not known: nobody, and no user's token is trusted to it. */
  readonly securedBy?: string;
}

/**
 * The definition of the file with an override laid over it: mappings are merged key by key, `null` removes a key,
 * anything else is replaced. Neither input is changed.
 */
export function mergeDefinition(base: unknown, override: unknown): unknown {
  if (!isMapping(base) || !isMapping(override)) return override;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergeDefinition(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** What changes neither where a call leads, nor with which credential, nor who may make it, nor what it may do. */
const harmlessKeys: ReadonlySet<string> = new Set([
  'title',
  'description',
  'iconPath',
  'chatMenu',
  'timeout',
  'initTimeout',
  'sseReadTimeout',
  'era',
]);

/**
 * Whether the base may serve in place of an override that is wrong or fails. Only where that takes nothing back: behind
 * an override that was to narrow the tools, ask for a sign-in or lead elsewhere, the base would be wider than meant. A
 * key that nobody knows may have been meant so.
 */
export function canFallBackToBase({ definition }: ServerOverride): boolean {
  return isMapping(definition) && Object.keys(definition).every((key) => harmlessKeys.has(key));
}

/** `base` is the plain definition of the file, or undefined where the file has none. */
export function compileOverride(
  { name, definition }: ServerOverride,
  base: unknown,
  env: EnvRecord,
): CompiledDefinition {
  const path = ['mcpServers', name];
  const merged = mergeDefinition(base, definition);
  const errors = [
    ...findOverrideProblems(definition, path),
    ...findSecretLeaks(base, definition, merged, path),
  ];
  if (errors.length > 0) return { ok: false, errors };
  // The override itself holds no `${...}` by now: what is filled in is what the file says, where the file says it.
  const compiled = compileDefinition(name, merged, { env: base === undefined ? {} : env });
  if (!compiled.ok || compiled.server.type !== 'stdio') return compiled;
  // Which programs run on this machine is said in the file, by whoever may write there, and nowhere else.
  return {
    ok: false,
    errors: [createFinding(path, 'operator_only', 'an override cannot start or change a process')],
  };
}

/**
 * A proxy is dialled unjudged, a certificate is a file of this machine, and to whom users' models and folders are lent is
 * decided for the whole installation: all are the operator's to name.
 */
const operatorKeys = ['proxy', 'caFile', 'relay'];

/** Never rendered, so nothing in them is a variable. */
const literalTextKeys: ReadonlySet<string> = new Set([
  'title',
  'description',
  'iconPath',
  'serverInstructions',
  'customUserVars',
]);

/**
 * What an administrator of one tenant may not say, because the environment and the machine are the operator's: a variable
 * sent to a server of theirs would be read there.
 */
function findOverrideProblems(definition: unknown, path: Path): Finding[] {
  return Object.entries(toFields(definition)).flatMap(([key, value]) => {
    if (operatorKeys.includes(key) && value !== null) {
      return [createFinding([...path, key], 'operator_only', 'can be set by the operator only', 'remove it')];
    }
    if (literalTextKeys.has(key)) return [];
    return [...findFileProblems(key, value, path), ...findVariables(value, [...path, key])];
  });
}

/** A private key is a file of this machine. */
function findFileProblems(key: string, value: unknown, path: Path): Finding[] {
  return key === 'oauth' && Object.hasOwn(toFields(value), 'private_key_file')
    ? [
        createFinding(
          [...path, key, 'private_key_file'],
          'operator_only',
          'can be set by the operator only',
          'remove it',
        ),
      ]
    : [];
}

function findVariables(value: unknown, path: Path): Finding[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findVariables(item, [...path, index]));
  if (isMapping(value)) {
    return Object.entries(value).flatMap(([key, item]) => findVariables(item, [...path, key]));
  }
  if (typeof value !== 'string') return [];
  if (hasTokenPlaceholder(value)) {
    const message =
      'must not contain a user token placeholder: only the operator configures where user tokens are sent';
    return [createFinding(path, 'placeholder_forbidden', message, 'use obo')];
  }
  if (!value.includes('${')) return [];
  const message = 'must not contain environment variables: they belong to the operator';
  return [createFinding(path, 'placeholder_forbidden', message, 'write the value itself')];
}

/** Where an administrator of one tenant may send it, users of that tenant cannot judge. */
function hasTokenPlaceholder(text: string): boolean {
  const parsed = parseTemplate(text);
  return (
    parsed.ok &&
    parsed.template.some((part) => part.kind !== 'literal' && part.kind !== 'env' && isUserToken(part))
  );
}

/** Asked also when the file changes under an override: a secret that comes there later follows it nowhere either. */
function findSecretLeaks(base: unknown, override: unknown, merged: unknown, path: Path): Finding[] {
  const changed = findInheritedSecrets(base, override).flatMap((field) =>
    findChangedBindings(field, base, merged),
  );
  return [...new Set(changed)].map((changedPath) =>
    createFinding(
      [...path, ...changedPath.split('.')],
      'secret_binding',
      'differs from the configuration file, whose secrets would be sent there',
      'enter the secrets again',
    ),
  );
}

/** Whether it leads where the file does not: then it has none of the privileges of the file’s addresses. */
export function overridesAddress(base: unknown, merged: unknown): boolean {
  return findChangedFields(base, merged).some((key) => key === 'url' || operatorKeys.includes(key));
}

/** On whose word a server with an override rests: where that changes texts and the picture alone, on the operator’s. */
export function getSecurityDecision(
  { securedBy }: ServerOverride,
  base: unknown,
  merged: unknown,
): SecurityDecision {
  if (findSecurityChanges(base, merged).length === 0) return { decidedBy: null, isIntact: true };
  return { decidedBy: securedBy ?? '', isIntact: securedBy !== undefined };
}

interface OverridesParts {
  readonly store: OverrideStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}

/** An override, opened. */
export interface StoredOverride extends ServerOverride {
  readonly version: number;
  readonly updatedAt: number;
  readonly updatedBy: string;
  readonly securedBy: string;
}

/** What administrators changed of servers, sealed in the store. Who may do so is decided before. */
export interface Overrides {
  find(tenant: string, name: string): Promise<StoredOverride | null>;
  /** `seen` is the version that is replaced; null for the first. */
  put(
    override: {
      tenant: string;
      name: string;
      definition: unknown;
      changedBy: string;
      /** Whether more changes than texts and the picture: who does that answers for where calls lead from then on. */
      isSecurityChange: boolean;
    },
    expectedVersion: number | null,
  ): Promise<StoredOverride | 'version_conflict'>;
  remove(
    tenant: string,
    name: string,
    expectedVersion: number,
  ): Promise<'removed' | 'version_conflict' | 'missing'>;
  /** All of them; one that cannot be opened stands there as one that says nothing readable. */
  load(): Promise<StoredOverride[]>;
  /**
   * Calls back with all of them now and after each change, at most two seconds late. `unknown` when the store has not
   * answered, at the start or for half a minute: no server may then serve without what was to narrow it.
   */
  subscribe(
    listener: (overrides: readonly ServerOverride[] | 'unknown') => void,
  ): ReplicatedValue<readonly ServerOverride[] | 'unknown'>;
}

export function createOverrides({ store, keyring, changes, clock, log }: OverridesParts): Overrides {
  function openRecord(record: OverrideRecord): StoredOverride {
    const { tenant, name, version, updatedAt, updatedBy, securedBy } = record;
    let definition: unknown = null;
    try {
      definition = JSON.parse(keyring.open(record.configSealed, toOverrideSealContext(record)));
    } catch (error) {
      log('override_unreadable', {
        server: name,
        reason: error instanceof SealError ? error.reason : 'unreadable',
      });
    }
    return { tenant, name, definition, version, updatedAt, updatedBy, securedBy };
  }

  const load = async () => (await store.list()).map(openRecord);
  const publishChange = (tenant: string, name: string) =>
    changes.publish({ topic: 'overrides', id: overrideId(tenant, name) });

  return {
    async find(tenant, name) {
      const record = await store.find(tenant, name);
      return record && openRecord(record);
    },
    async put({ tenant, name, definition, changedBy, isSecurityChange }, expectedVersion) {
      const now = clock.now();
      const before = expectedVersion === null ? null : await store.find(tenant, name);
      const { createdAt = now } = before ?? {};
      const { securedBy, securedAt } =
        before && !isSecurityChange ? before : { securedBy: changedBy, securedAt: now };
      const record: OverrideRecord = {
        id: overrideId(tenant, name),
        tenant,
        name,
        version: (expectedVersion ?? 0) + 1,
        configSealed: keyring.seal(
          JSON.stringify(definition),
          toOverrideSealContext({ tenant, name, securedBy }),
        ),
        createdAt,
        updatedAt: now,
        updatedBy: changedBy,
        securedBy,
        securedAt,
      };
      const stored = await store.put(record, expectedVersion);
      if (stored === 'version_conflict') return stored;
      await publishChange(tenant, name);
      return openRecord(record);
    },
    async remove(tenant, name, expectedVersion) {
      const outcome = await store.remove(tenant, name, expectedVersion);
      if (outcome === 'removed') await publishChange(tenant, name);
      return outcome;
    },
    load,
    subscribe(listener) {
      let lastText = '';
      let lastOpened: readonly ServerOverride[] = [];
      let lastEmitted: readonly ServerOverride[] | 'unknown' = 'unknown';
      // Until the first answer nobody knows.
      listener(lastEmitted);
      return createReplicatedValue<readonly ServerOverride[] | 'unknown'>({
        topic: 'overrides',
        async read() {
          const records = await store.list();
          const text = JSON.stringify(records);
          if (text !== lastText) lastOpened = records.map(openRecord);
          lastText = text;
          return lastOpened;
        },
        fallback: 'unknown',
        changes,
        clock,
        log,
        onChange(value) {
          if (value === lastEmitted) return;
          lastEmitted = value;
          listener(value);
        },
      });
    },
  };
}
