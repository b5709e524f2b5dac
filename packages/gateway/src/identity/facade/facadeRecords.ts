import type { Clock, Keyring } from '@behalf/kernel';
import { facadeContext, facadeKey, type FacadeRecord, type FacadeStore } from '../../ports/index.ts';
import { secretHash } from '../secretHash.ts';

/** Something that is remembered, opened. */
export interface Remembered<T> {
  readonly payload: T;
  readonly consumedAt: number | null;
  readonly expiresAt: number;
}

/** One of several, by a name that is no secret. */
export interface NamedRemembered<T> extends Remembered<T> {
  readonly name: string;
}

export interface RememberOptions {
  readonly ttlMs: number;
  /** What it is found and ended together with. */
  readonly family?: string | undefined;
}

/**
 * What the authorization server remembers. Under its own id nothing is found in the store, and nothing can be read there: who has
 * a copy of the store has no code and no token.
 */
export interface FacadeRecords {
  put(kind: string, id: string, payload: object, options: RememberOptions): Promise<void>;
  /** Null when it is in; else what the first one said. */
  add<T extends object>(kind: string, id: string, payload: T, options: RememberOptions): Promise<T | null>;
  find<T>(kind: string, id: string): Promise<Remembered<T> | null>;
  list<T>(kind: string, family: string): Promise<NamedRemembered<T>[]>;
  /** True for one caller in all processes. */
  consume(kind: string, id: string): Promise<boolean>;
  remove(kind: string, id: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<void>;
  /** Those that are over too, until they are swept. */
  count(kind: string): Promise<number>;
  /** Whether there are fewer than `most`. Those that end first make room for another, if they end within this time. */
  makeRoom(kind: string, most: number, withinMs: number): Promise<boolean>;
  sweep(): Promise<number>;
}

export interface FacadeRecordParts {
  readonly store: FacadeStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createFacadeRecords({ store, keyring, clock }: FacadeRecordParts): FacadeRecords {
  const keyOf = (kind: string, id: string) => facadeKey(kind, secretHash(id));

  function seal(kind: string, id: string, payload: object, { ttlMs, family }: RememberOptions): FacadeRecord {
    const createdAt = clock.now();
    const named = {
      key: keyOf(kind, id),
      kind,
      family: family === undefined ? null : secretHash(family),
    };
    const sealed = keyring.seal(JSON.stringify(payload), facadeContext(named));
    return { ...named, sealed, consumedAt: null, createdAt, expiresAt: createdAt + ttlMs };
  }

  function open<T>(record: FacadeRecord): Remembered<T> {
    const { consumedAt, expiresAt } = record;
    const payload = JSON.parse(keyring.open(record.sealed, facadeContext(record))) as T;
    return { payload, consumedAt, expiresAt };
  }

  return {
    put: (kind, id, payload, options) => store.put(seal(kind, id, payload, options)),
    async add<T extends object>(kind: string, id: string, payload: T, options: RememberOptions) {
      const first = await store.insert(seal(kind, id, payload, options), clock.now());
      return first && open<T>(first).payload;
    },
    async find<T>(kind: string, id: string): Promise<Remembered<T> | null> {
      const record = await store.find(keyOf(kind, id), clock.now());
      return record && open<T>(record);
    },
    async list<T>(kind: string, family: string): Promise<NamedRemembered<T>[]> {
      const records = await store.list(kind, secretHash(family), clock.now());
      const named = (record: FacadeRecord) => ({
        ...open<T>(record),
        name: record.key.slice(kind.length + 1),
      });
      return records.map(named);
    },
    consume: (kind, id) => store.consume(keyOf(kind, id), clock.now()),
    remove: (kind, id) => store.remove(keyOf(kind, id)),
    removeFamily: async (kind, family) => void (await store.removeFamily(kind, secretHash(family))),
    count: (kind) => store.count(kind),
    async makeRoom(kind, most, withinMs) {
      for (;;) {
        const over = (await store.count(kind)) - most + 1;
        if (over <= 0) return true;
        if ((await store.removeFirst(kind, over, clock.now() + withinMs)) === 0) return false;
      }
    },
    sweep: () => store.removeExpired(clock.now()),
  };
}
