import { createSingleFlight, type Clock, type Keyring } from '@behalf/kernel';
import {
  isCurrent,
  variableContext,
  type ChangeFeed,
  type UserVariableRecord,
  type UserVariableStore,
} from '../ports/index.ts';
import { createRecent } from './recent.ts';

/** What a user entered for a server, opened. The same object for as long as nothing of it changed. */
export interface VariableValues {
  readonly values: Readonly<Record<string, string>>;
}

export interface VariableOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly serverId: string;
}

export interface VariableCache {
  /** Without I/O for as long as an answer may be trusted. */
  read(owner: VariableOwner): VariableValues | Promise<VariableValues>;
  close(): void;
}

export interface VariableCacheParts {
  readonly store: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** For how long calls run on while the store does not answer. */
const OUTAGE_MS = 30_000;
const MOST_ENTRIES = 10_000;

interface Entry {
  readonly opened: VariableValues;
  /** As the store had them: while they are the same, nothing is opened anew. */
  readonly sealed: string;
  readonly readAt: number;
  /** The notices about everybody that had been heard when it was read. */
  readonly wiped: number;
}

export function createVariableCache({ store, keyring, changes, clock }: VariableCacheParts): VariableCache {
  const known = createRecent<Entry>(MOST_ENTRIES);
  const flights = createSingleFlight<VariableValues>();
  /** What was being read while a notice came may be what it told about. */
  let notices = 0;
  let wiped = 0;

  const close = changes.subscribe(({ topic, id }) => {
    if (topic !== 'variables') return;
    notices += 1;
    if (id === '*') wiped += 1;
    else known.delete(id);
  });

  async function load(key: string, { tenant, userId, serverId }: VariableOwner): Promise<VariableValues> {
    const begun = notices;
    const readAt = clock.now();
    const before = known.get(key);
    let records: UserVariableRecord[];
    try {
      records = await store.list(tenant, userId, serverId);
    } catch (error) {
      if (before?.wiped === wiped && clock.now() - before.readAt < OUTAGE_MS) return before.opened;
      throw error;
    }
    const sealed = JSON.stringify(records.map(({ name, valueSealed }) => [name, valueSealed]));
    const opened = before?.sealed === sealed ? before.opened : open(records, keyring);
    // A notice meanwhile: this answer is good enough for who asked before it, and for nobody after.
    if (begun === notices) known.set(key, { opened, sealed, readAt, wiped });
    return opened;
  }

  return {
    read(owner) {
      const key = variablesKey(owner);
      const entry = known.get(key);
      if (entry?.wiped === wiped && isCurrent(changes, clock.now(), entry.readAt)) return entry.opened;
      return flights.run([key, notices], () => load(key, owner), { detached: true });
    },
    close,
  };
}

/** How notices name what changed. */
export function variablesKey({ tenant, userId, serverId }: VariableOwner): string {
  return JSON.stringify([tenant, userId, serverId]);
}

/** Whose values a notice is about; undefined when it does not say. */
export function readVariablesKey(id: string): VariableOwner | undefined {
  if (id === '*') return undefined;
  const [tenant, userId, serverId] = JSON.parse(id) as [string, string, string];
  return { tenant, userId, serverId };
}

function open(records: readonly UserVariableRecord[], keyring: Keyring): VariableValues {
  return Object.freeze({
    values: Object.freeze(
      Object.fromEntries(
        records.map((record) => [record.name, keyring.open(record.valueSealed, variableContext(record))]),
      ),
    ),
  });
}
