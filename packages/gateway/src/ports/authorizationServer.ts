import type { SealContext } from '@behalf/kernel';

/** Something our own authorization server must remember: a code, a token, a client, a consent, its keys. */
export interface AuthorizationServerRecord {
  /** Made by `authorizationServerRecordKey`: of the id only the hash, for a code or a token is its own id. */
  key: string;
  /** What kind of thing it is. */
  kind: string;
  /** What it is found and ended together with, as a hash: a grant, or a user. */
  family: string | null;
  /** Everything else of it, as JSON. */
  sealed: string;
  /** When it was used up. */
  consumedAt: number | null;
  createdAt: number;
  expiresAt: number;
}

export interface AuthorizationServerStore {
  /** Null when it is in; else the one that came first. One that is over at `now` is in nobody's way. */
  insert(record: AuthorizationServerRecord, now: number): Promise<AuthorizationServerRecord | null>;
  /** Inserts or replaces, the use too. */
  put(record: AuthorizationServerRecord): Promise<void>;
  /** Null when unknown or over at `now`. */
  find(key: string, now: number): Promise<AuthorizationServerRecord | null>;
  /** Of one family, the oldest first, without those over at `now`. */
  list(kind: string, family: string, now: number): Promise<AuthorizationServerRecord[]>;
  /** True for one caller in all processes. */
  consume(key: string, now: number): Promise<boolean>;
  /** False when there was none. */
  remove(key: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<number>;
  /** How many there are, those that are over too. */
  count(kind: string): Promise<number>;
  /** Of one kind those that end first, `most` at most and none that ends after `until`; how many. None only when there is none. */
  removeEarliest(kind: string, maxCount: number, expiresBy: number): Promise<number>;
  removeExpired(now: number): Promise<number>;
}

/** `idHash` is a hash already: this only keeps kinds apart. */
export function authorizationServerRecordKey(kind: string, idHash: string): string {
  return `${kind}:${idHash}`;
}

/** A payload moved to another record, or to another family, does not open there. */
export function toAuthorizationServerRecordSealContext({
  key,
  kind,
  family,
}: Pick<AuthorizationServerRecord, 'key' | 'kind' | 'family'>): SealContext {
  return {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'authorization-server',
    field: kind,
    binding: [key, family ?? ''],
  };
}
