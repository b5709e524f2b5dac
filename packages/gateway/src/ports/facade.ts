import type { SealContext } from '@behalf/kernel';

/** Something our own authorization server must remember: a code, a token, a client, a consent, its keys. */
export interface FacadeRecord {
  /** Made by `facadeKey`: of the id only the hash, for a code or a token is its own id. */
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

export interface FacadeStore {
  /** Null when it is in; else the one that came first. One that is over at `now` is in nobody's way. */
  insert(record: FacadeRecord, now: number): Promise<FacadeRecord | null>;
  /** Inserts or replaces, the use too. */
  put(record: FacadeRecord): Promise<void>;
  /** Null when unknown or over at `now`. */
  find(key: string, now: number): Promise<FacadeRecord | null>;
  /** Of one family, the oldest first, without those over at `now`. */
  list(kind: string, family: string, now: number): Promise<FacadeRecord[]>;
  /** True for one caller in all processes. */
  consume(key: string, now: number): Promise<boolean>;
  /** False when there was none. */
  remove(key: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<number>;
  /** How many there are, those that are over too. */
  count(kind: string): Promise<number>;
  /** Of one kind those that end first, `most` at most and none that ends after `until`; how many. None only when there is none. */
  removeFirst(kind: string, most: number, until: number): Promise<number>;
  removeExpired(now: number): Promise<number>;
}

/** `idHash` is a hash already: this only keeps kinds apart. */
export function facadeKey(kind: string, idHash: string): string {
  return `${kind}:${idHash}`;
}

/** A payload moved to another record, or to another family, does not open there. */
export function facadeContext({
  key,
  kind,
  family,
}: Pick<FacadeRecord, 'key' | 'kind' | 'family'>): SealContext {
  return {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'authorization-server',
    field: kind,
    binding: [key, family ?? ''],
  };
}
