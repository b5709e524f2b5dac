import { type Clock, type Keyring, SealError } from '@behalf/kernel';
import {
  type ChangeFeed,
  type UserVariableRecord,
  type UserVariableStore,
  toVariableSealContext,
} from '../../ports/index.ts';
import type { Principal } from '../../principal/principal.ts';
import { createReplicatedCache } from '../../replication/replicatedCache.ts';
import type { ServerSnapshot } from '../../definitions/definition.ts';

/** The decrypted values that a user entered for a server. The same object as long as no value changes. */
export interface VariableValues {
  readonly values: Readonly<Record<string, string>>;
}

interface VariableOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly serverId: string;
}

export interface VariableParts {
  readonly store: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** How long calls continue with cached values while the store is unreachable. */
const MAX_STALE_MS = 30_000;
const MAX_ENTRIES = 10_000;

interface CachedValues extends VariableValues {
  /** The stored values, sealed. If they are unchanged, nothing is decrypted again. */
  readonly sealed: string;
}

export type VariableCache = ReturnType<typeof createVariableCache>;

export function createVariableCache({ store, keyring, changes, clock }: VariableParts) {
  const cache = createReplicatedCache<CachedValues>({
    ...{ changes, clock, maxEntries: MAX_ENTRIES, maxStaleMs: MAX_STALE_MS, keepInvalidated: true },
    readsStale: false,
    affectedBy: ({ topic, id }) => (topic !== 'variables' ? undefined : id === '*' ? 'all' : { key: id }),
  });

  async function load(
    { tenant, userId, serverId }: VariableOwner,
    previous: CachedValues | undefined,
  ): Promise<CachedValues> {
    const records = await store.list(tenant, userId, serverId);
    const sealed = JSON.stringify(records.map(({ name, valueSealed }) => [name, valueSealed]));
    return previous?.sealed === sealed
      ? previous
      : Object.freeze({ sealed, values: openValues(records, keyring) });
  }

  return {
    /** Synchronous and without I/O while the values are current. */
    read(owner: VariableOwner): VariableValues | Promise<VariableValues> {
      const key = variablesKey(owner);
      const values = cache.read(key, (previous) => load(owner, previous));
      if (!(values instanceof Promise)) return values;
      return values.catch((error: unknown) => {
        // A value that fails to decrypt is reported. Cached values only replace an unreachable store.
        const stale = error instanceof SealError ? undefined : cache.getStale(key);
        if (stale === undefined) throw error;
        return stale;
      });
    },
    close: () => cache.close(),
  };
}

export function variableOwner(
  { id }: Pick<ServerSnapshot, 'id'>,
  { tenant, userId }: Pick<Principal, 'tenant' | 'userId'>,
): VariableOwner {
  return { tenant, userId, serverId: id };
}

/** The id of change notifications about these values. */
export function variablesKey({ tenant, userId, serverId }: VariableOwner): string {
  return JSON.stringify([tenant, userId, serverId]);
}

/** Undefined for `*`: any values may have changed. */
export function parseVariablesKey(id: string): VariableOwner | undefined {
  if (id === '*') return undefined;
  const [tenant, userId, serverId] = JSON.parse(id) as [string, string, string];
  return { tenant, userId, serverId };
}

function openValues(records: readonly UserVariableRecord[], keyring: Keyring): VariableValues['values'] {
  const open = (record: UserVariableRecord) =>
    [record.name, keyring.open(record.valueSealed, toVariableSealContext(record))] as const;
  return Object.freeze(Object.fromEntries(records.map(open)));
}
