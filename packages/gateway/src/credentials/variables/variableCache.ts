import { type Clock, type Keyring, createSingleFlight } from '@behalf/kernel';
import {
  type ChangeFeed,
  type UserVariableRecord,
  type UserVariableStore,
  isCurrent,
  toVariableSealContext,
} from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';

/** What a user entered for a server, opened. The same object for as long as nothing of it changed. */
export interface VariableValues {
  readonly values: Readonly<Record<string, string>>;
}

interface VariableOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly serverId: string;
}

export interface VariableCache {
  /** Without I/O for as long as an answer may be trusted. */
  read(owner: VariableOwner): VariableValues | Promise<VariableValues>;
  close(): void;
}

interface VariableCacheParts {
  readonly store: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** For how long calls run on while the store does not answer. */
const MAX_STALE_MS = 30_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly values: VariableValues;
  /** As the store had them: while they are the same, nothing is opened anew. */
  readonly sealed: string;
  readonly readAt: number;
  /** The notices about everybody that had been heard when it was read. */
  readonly wipeEpoch: number;
}

export function createVariableCache({ store, keyring, changes, clock }: VariableCacheParts): VariableCache {
  const cache = createLruMap<Entry>(MAX_ENTRIES);
  const flights = createSingleFlight<VariableValues>();
  /** What was being read while a notice came may be what it told about. */
  let changeEpoch = 0;
  let wipeEpoch = 0;

  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'variables') return;
    changeEpoch += 1;
    if (id === '*') wipeEpoch += 1;
    else cache.delete(id);
  });

  async function load(key: string, { tenant, userId, serverId }: VariableOwner): Promise<VariableValues> {
    const startEpoch = changeEpoch;
    const readAt = clock.now();
    const previous = cache.get(key);
    let records: UserVariableRecord[];
    try {
      records = await store.list(tenant, userId, serverId);
    } catch (error) {
      if (previous?.wipeEpoch === wipeEpoch && clock.now() - previous.readAt < MAX_STALE_MS)
        return previous.values;
      throw error;
    }
    const sealed = JSON.stringify(records.map(({ name, valueSealed }) => [name, valueSealed]));
    const values = previous?.sealed === sealed ? previous.values : openValues(records, keyring);
    // A notice meanwhile: this answer is good enough for who asked before it, and for nobody after.
    if (startEpoch === changeEpoch) cache.set(key, { values, sealed, readAt, wipeEpoch });
    return values;
  }

  return {
    read(owner) {
      const key = variablesKey(owner);
      const entry = cache.get(key);
      if (entry?.wipeEpoch === wipeEpoch && isCurrent(changes, clock.now(), entry.readAt))
        return entry.values;
      return flights.run([key, changeEpoch], () => load(key, owner), { detached: true });
    },
    close: unsubscribe,
  };
}

/** How notices name what changed. */
export function variablesKey({ tenant, userId, serverId }: VariableOwner): string {
  return JSON.stringify([tenant, userId, serverId]);
}

/** Whose values a notice is about; undefined when it does not say. */
export function parseVariablesKey(id: string): VariableOwner | undefined {
  if (id === '*') return undefined;
  const [tenant, userId, serverId] = JSON.parse(id) as [string, string, string];
  return { tenant, userId, serverId };
}

function openValues(records: readonly UserVariableRecord[], keyring: Keyring): VariableValues {
  return Object.freeze({
    values: Object.freeze(
      Object.fromEntries(
        records.map((record) => [
          record.name,
          keyring.open(record.valueSealed, toVariableSealContext(record)),
        ]),
      ),
    ),
  });
}
