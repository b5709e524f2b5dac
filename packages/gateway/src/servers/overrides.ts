import { type Finding, type Path, createFinding } from '@behalf/contracts';
import { type Clock, type Keyring, SealError, isObject } from '@behalf/kernel';
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
import type { SecurityDecision } from '../definitions/definition.ts';
import {
  findChangedFields,
  findSecurityChanges,
  findTextProblems,
  mergeDefinition,
  toFields,
} from './fields.ts';
import { findChangedBindings, findInheritedSecrets } from './secrets.ts';

/** An administrator's change to a server of the configuration file for one tenant, or a server of this tenant only. */
export interface ServerOverride {
  readonly tenant: string;
  readonly name: string;
  /** A merge patch on the definition in the file. Null if it could not be decrypted; this hides the server. */
  readonly definition: unknown;
  readonly version?: number;
  readonly updatedAt?: number;
  /** The administrator who last changed a security field. If absent, the server receives no user tokens. */
  readonly securedBy?: string;
}

/** Fields that affect neither the destination, the credential, the permitted callers nor the permitted tools. */
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
 * Whether the base server may serve in place of an invalid or failing override. Any other field, including an unknown
 * one, may restrict the base server, which would then allow more than the administrator intended.
 */
export function canFallBackToBase({ definition }: ServerOverride): boolean {
  return isObject(definition) && Object.keys(definition).every((key) => harmlessKeys.has(key));
}

/** `base` is the definition in the configuration file, undefined if there is none. */
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
  // The override contains no `${...}`, so the environment fills only fields that the file defines.
  const compiled = compileDefinition(name, merged, { env: base === undefined ? {} : env });
  if (!compiled.ok || compiled.server.type !== 'stdio') return compiled;
  // Only the configuration file can start programs on this machine.
  return {
    ok: false,
    errors: [createFinding(path, 'operator_only', 'an override cannot start or change a process')],
  };
}

/**
 * Fields reserved for the operator. A proxy receives requests that skip the address checks, a CA file is a file of this
 * machine, and `relay` gives a server access to users' models and folders.
 */
const operatorKeys = ['proxy', 'caFile', 'relay'];

/** Not rendered, so they cannot contain variables. */
const literalTextKeys: ReadonlySet<string> = new Set([
  'title',
  'description',
  'iconPath',
  'serverInstructions',
  'customUserVars',
]);

/**
 * Finds fields that an administrator of one tenant must not set. The environment and the machine belong to the
 * operator: a variable that is sent to the administrator's server could be read there.
 */
function findOverrideProblems(definition: unknown, path: Path): Finding[] {
  const reject = (fieldPath: Path) =>
    createFinding(fieldPath, 'operator_only', 'can be set by the operator only', 'remove it');
  return Object.entries(toFields(definition)).flatMap(([key, value]) => {
    const fieldPath = [...path, key];
    if (operatorKeys.includes(key) && value !== null) return [reject(fieldPath)];
    if (literalTextKeys.has(key)) return [];
    // The private key is a file of this machine.
    const hasKeyFile = key === 'oauth' && Object.hasOwn(toFields(value), 'private_key_file');
    return [
      ...(hasKeyFile ? [reject([...fieldPath, 'private_key_file'])] : []),
      ...findTextProblems(value, fieldPath, findVariableProblem),
    ];
  });
}

/**
 * Finds environment variables and user token placeholders. Users cannot judge where an administrator of their tenant
 * sends their tokens, so only the operator may configure that.
 */
function findVariableProblem(text: string, path: Path): Finding[] {
  const parsed = parseTemplate(text);
  const hasTokenPlaceholder =
    parsed.ok &&
    parsed.template.some((part) => part.kind !== 'literal' && part.kind !== 'env' && isUserToken(part));
  if (hasTokenPlaceholder) {
    const message =
      'must not contain a user token placeholder: only the operator configures where user tokens are sent';
    return [createFinding(path, 'placeholder_forbidden', message, 'use obo')];
  }
  if (!text.includes('${')) return [];
  const message = 'must not contain environment variables: they belong to the operator';
  return [createFinding(path, 'placeholder_forbidden', message, 'write the value itself')];
}

/**
 * Finds changes that would send a secret of the file to another destination. Runs at each compilation: the secret may be
 * added to the file after the override was stored.
 */
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

/** Whether the address differs from the file. Such an address has none of the privileges of the operator's addresses. */
export function overridesAddress(base: unknown, merged: unknown): boolean {
  return findChangedFields(base, merged).some((key) => key === 'url' || operatorKeys.includes(key));
}

/** If the override changes only texts and the icon, the decision is still the operator's. */
export function getSecurityDecision(
  { securedBy }: ServerOverride,
  base: unknown,
  merged: unknown,
): SecurityDecision {
  if (findSecurityChanges(base, merged).length === 0) return { decidedBy: null, isIntact: true };
  return { decidedBy: securedBy ?? '', isIntact: securedBy !== undefined };
}

/** An override after decryption. */
export interface StoredOverride extends ServerOverride {
  readonly version: number;
  readonly updatedAt: number;
  readonly updatedBy: string;
  readonly securedBy: string;
}

/** The sealed store of overrides. Does not check the caller's permissions. */
export interface Overrides {
  find(tenant: string, name: string): Promise<StoredOverride | null>;
  /** `expectedVersion` is the version to replace; null to insert. */
  put(
    override: {
      tenant: string;
      name: string;
      definition: unknown;
      changedBy: string;
      /** If true, `changedBy` becomes the user whose role OBO trust depends on. */
      isSecurityChange: boolean;
    },
    expectedVersion: number | null,
  ): Promise<StoredOverride | 'version_conflict'>;
  remove(
    tenant: string,
    name: string,
    expectedVersion: number,
  ): Promise<'removed' | 'version_conflict' | 'missing'>;
  /** All overrides. One that cannot be decrypted has a null definition. */
  load(): Promise<StoredOverride[]>;
  /**
   * Calls the listener with all overrides, initially and within two seconds after each change. The value is `unknown`
   * until the first read, and if the store does not respond for 30 seconds: without the overrides that restrict it, no
   * server may be offered.
   */
  subscribe(
    listener: (overrides: readonly ServerOverride[] | 'unknown') => void,
  ): ReplicatedValue<readonly ServerOverride[] | 'unknown'>;
}

interface OverridesParts {
  readonly store: OverrideStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
}

export function createOverrides({ store, keyring, changes, clock, log }: OverridesParts): Overrides {
  function openRecord(record: OverrideRecord): StoredOverride {
    const { tenant, name, version, updatedAt, updatedBy, securedBy } = record;
    let definition: unknown = null;
    try {
      definition = JSON.parse(keyring.open(record.configSealed, toOverrideSealContext(record)));
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('override_unreadable', { server: name, reason });
    }
    return { tenant, name, definition, version, updatedAt, updatedBy, securedBy };
  }

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
      const sealContext = toOverrideSealContext({ tenant, name, securedBy });
      const record: OverrideRecord = {
        ...{ id: overrideId(tenant, name), tenant, name, version: (expectedVersion ?? 0) + 1 },
        configSealed: keyring.seal(JSON.stringify(definition), sealContext),
        ...{ createdAt, updatedAt: now, updatedBy: changedBy, securedBy, securedAt },
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
    load: async () => (await store.list()).map(openRecord),
    subscribe(listener) {
      let lastText = '';
      let lastOpened: readonly ServerOverride[] = [];
      listener('unknown');
      return createReplicatedValue<readonly ServerOverride[] | 'unknown'>({
        async read() {
          const records = await store.list();
          const text = JSON.stringify(records);
          if (text !== lastText) lastOpened = records.map(openRecord);
          lastText = text;
          return lastOpened;
        },
        ...{ topic: 'overrides', fallback: 'unknown', changes, clock, log, onChange: listener },
      });
    },
  };
}
