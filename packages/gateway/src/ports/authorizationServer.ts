import type { SealContext } from '@behalf/kernel';

/** A record of the gateway's own authorization server: a code, token, client, consent or key. */
export interface AuthorizationServerRecord {
  /**
   * From `authorizationServerRecordKey`. Contains only a hash of the ID, because the ID of a code or token is the
   * secret itself.
   */
  key: string;
  kind: string;
  /** Hash of the grant or user that groups records, to find and remove them together. */
  family: string | null;
  /** The other data as encrypted JSON. */
  sealed: string;
  /** When it was consumed. */
  consumedAt: number | null;
  createdAt: number;
  expiresAt: number;
}

export interface AuthorizationServerStore {
  /** Null if inserted; otherwise the existing record. A record that is expired at `now` does not count. */
  insert(record: AuthorizationServerRecord, now: number): Promise<AuthorizationServerRecord | null>;
  /** Inserts or replaces the record, including `consumedAt`. */
  put(record: AuthorizationServerRecord): Promise<void>;
  /** Null if unknown, or expired at `now`. */
  find(key: string, now: number): Promise<AuthorizationServerRecord | null>;
  /** The records of one family that are not expired at `now`, the oldest first. */
  list(kind: string, family: string, now: number): Promise<AuthorizationServerRecord[]>;
  /** True for exactly one caller across all replicas. */
  consume(key: string, now: number): Promise<boolean>;
  /** False if it did not exist. */
  remove(key: string): Promise<boolean>;
  removeFamily(kind: string, family: string): Promise<number>;
  /** The number of records, including expired ones. */
  count(kind: string): Promise<number>;
  /**
   * Removes the records of a kind that expire first: at most `maxCount`, and none that expires after `expiresBy`.
   * Returns their number. Zero only if there is none.
   */
  removeEarliest(kind: string, maxCount: number, expiresBy: number): Promise<number>;
  removeExpired(now: number): Promise<number>;
}

/** `idHash` is already a hash. The key only separates kinds. */
export function authorizationServerRecordKey(kind: string, idHash: string): string {
  return `${kind}:${idHash}`;
}

/** Binds the payload to record and family: a payload copied to another record fails to decrypt. */
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
