import { SealError, type Clock, type Keyring } from '@behalf/kernel';
import { createReplicatedValue, type ReplicatedValue } from '../replication/replicatedValue.ts';
import {
  toOverrideSealContext,
  overrideId,
  type ChangeFeed,
  type OverrideRecord,
  type OverrideStore,
} from '../ports/index.ts';
import type { ServerOverride } from '../registry/override.ts';
import type { Log } from '../upstream/parts.ts';

export interface OverridesParts {
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
