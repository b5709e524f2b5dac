import type { Clock, Keyring } from '@behalf/kernel';
import {
  toAuthorizationServerRecordSealContext,
  authorizationServerRecordKey,
  type AuthorizationServerRecord,
  type AuthorizationServerStore,
} from '../../ports/index.ts';
import { hashSecret } from '../hashSecret.ts';

interface StoredValue<T> {
  readonly payload: T;
  readonly consumedAt: number | null;
  readonly expiresAt: number;
}

interface RecordOptions {
  readonly ttlMs: number;
  /** Records of one family are listed and removed together. */
  readonly family?: string | undefined;
}

/**
 * The state of the authorization server: codes, tokens, registrations, consents, keys. The store has only the hash of an id and
 * a sealed payload, so a copy of the store contains no usable code or token.
 */
export interface AuthorizationServerRecords {
  put(kind: string, id: string, payload: object, options: RecordOptions): Promise<void>;
  /** Inserts the record. Returns null, or the payload of the record that exists already. */
  add<T extends object>(kind: string, id: string, payload: T, options: RecordOptions): Promise<T | null>;
  find<T>(kind: string, id: string): Promise<StoredValue<T> | null>;
  /** `idHash` identifies a record and is not secret. */
  list<T>(kind: string, family: string): Promise<(StoredValue<T> & { readonly idHash: string })[]>;
  /** Atomic: returns true for exactly one caller across all replicas. */
  consume(kind: string, id: string): Promise<boolean>;
  remove(kind: string, id: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<void>;
  /** Includes expired records that are not swept yet. */
  count(kind: string): Promise<number>;
  /**
   * Whether there are fewer than `maxCount` records. Evicts the records with the earliest expiry, if they expire within
   * `withinMs`.
   */
  ensureCapacity(kind: string, maxCount: number, withinMs: number): Promise<boolean>;
  sweep(): Promise<number>;
}

export function createAuthorizationServerRecords(parts: {
  readonly store: AuthorizationServerStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
}): AuthorizationServerRecords {
  const { store, keyring, clock } = parts;
  const keyOf = (kind: string, id: string) => authorizationServerRecordKey(kind, hashSecret(id));

  function seal(
    kind: string,
    id: string,
    payload: object,
    { ttlMs, family }: RecordOptions,
  ): AuthorizationServerRecord {
    const createdAt = clock.now();
    const named = { key: keyOf(kind, id), kind, family: family === undefined ? null : hashSecret(family) };
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
    async list(kind, family) {
      const records = await store.list(kind, hashSecret(family), clock.now());
      return records.map((record) => ({ ...unseal(record), idHash: record.key.slice(kind.length + 1) }));
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
