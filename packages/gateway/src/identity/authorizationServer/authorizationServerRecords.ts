import type { Clock, Keyring } from '@behalf/kernel';
import {
  toAuthorizationServerRecordSealContext,
  authorizationServerRecordKey,
  type AuthorizationServerRecord,
  type AuthorizationServerStore,
} from '../../ports/index.ts';
import { hashSecret } from '../hashSecret.ts';

/** Something that is remembered, opened. */
interface StoredValue<T> {
  readonly payload: T;
  readonly consumedAt: number | null;
  readonly expiresAt: number;
}

/** One of several, by a name that is no secret. */
interface NamedStoredValue<T> extends StoredValue<T> {
  readonly idHash: string;
}

interface RecordOptions {
  readonly ttlMs: number;
  /** What it is found and ended together with. */
  readonly family?: string | undefined;
}

/**
 * What the authorization server remembers. Under its own id nothing is found in the store, and nothing can be read there: who has
 * a copy of the store has no code and no token.
 */
export interface AuthorizationServerRecords {
  put(kind: string, id: string, payload: object, options: RecordOptions): Promise<void>;
  /** Null when it is in; else what the first one said. */
  add<T extends object>(kind: string, id: string, payload: T, options: RecordOptions): Promise<T | null>;
  find<T>(kind: string, id: string): Promise<StoredValue<T> | null>;
  list<T>(kind: string, family: string): Promise<NamedStoredValue<T>[]>;
  /** True for one caller in all processes. */
  consume(kind: string, id: string): Promise<boolean>;
  remove(kind: string, id: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<void>;
  /** Those that are over too, until they are swept. */
  count(kind: string): Promise<number>;
  /** Whether there are fewer than `most`. Those that end first make room for another, if they end within this time. */
  ensureCapacity(kind: string, maxCount: number, withinMs: number): Promise<boolean>;
  sweep(): Promise<number>;
}

interface AuthorizationServerRecordParts {
  readonly store: AuthorizationServerStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createAuthorizationServerRecords({
  store,
  keyring,
  clock,
}: AuthorizationServerRecordParts): AuthorizationServerRecords {
  const keyOf = (kind: string, id: string) => authorizationServerRecordKey(kind, hashSecret(id));

  function seal(
    kind: string,
    id: string,
    payload: object,
    { ttlMs, family }: RecordOptions,
  ): AuthorizationServerRecord {
    const createdAt = clock.now();
    const named = {
      key: keyOf(kind, id),
      kind,
      family: family === undefined ? null : hashSecret(family),
    };
    const sealed = keyring.seal(JSON.stringify(payload), toAuthorizationServerRecordSealContext(named));
    return { ...named, sealed, consumedAt: null, createdAt, expiresAt: createdAt + ttlMs };
  }

  function unseal<T>(record: AuthorizationServerRecord): StoredValue<T> {
    const { consumedAt, expiresAt } = record;
    const payload = JSON.parse(
      keyring.open(record.sealed, toAuthorizationServerRecordSealContext(record)),
    ) as T;
    return { payload, consumedAt, expiresAt };
  }

  return {
    put: (kind, id, payload, options) => store.put(seal(kind, id, payload, options)),
    async add<T extends object>(kind: string, id: string, payload: T, options: RecordOptions) {
      const first = await store.insert(seal(kind, id, payload, options), clock.now());
      return first && unseal<T>(first).payload;
    },
    async find<T>(kind: string, id: string): Promise<StoredValue<T> | null> {
      const record = await store.find(keyOf(kind, id), clock.now());
      return record && unseal<T>(record);
    },
    async list<T>(kind: string, family: string): Promise<NamedStoredValue<T>[]> {
      const records = await store.list(kind, hashSecret(family), clock.now());
      const named = (record: AuthorizationServerRecord) => ({
        ...unseal<T>(record),
        idHash: record.key.slice(kind.length + 1),
      });
      return records.map(named);
    },
    consume: (kind, id) => store.consume(keyOf(kind, id), clock.now()),
    remove: (kind, id) => store.remove(keyOf(kind, id)),
    removeFamily: async (kind, family) => void (await store.removeFamily(kind, hashSecret(family))),
    count: (kind) => store.count(kind),
    async ensureCapacity(kind, maxCount, withinMs) {
      for (;;) {
        const excess = (await store.count(kind)) - maxCount + 1;
        if (excess <= 0) return true;
        if ((await store.removeEarliest(kind, excess, clock.now() + withinMs)) === 0) return false;
      }
    },
    sweep: () => store.removeExpired(clock.now()),
  };
}
