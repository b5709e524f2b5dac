/** For how long a writer that gave no further sign of life counts as alive. */
export const WRITER_TTL_MS = 15_000;

/** What a store knows of itself: whose key seals it, which gateways write it, whether it is being moved. */
export interface SystemStore {
  /** Stores `candidate` if there is no key check yet, and returns the one that counts. */
  getOrCreateKeyCheck(candidate: string): Promise<string>;
  /**
   * A gateway's sign of life, repeated before `ttlMs` is over. Refused while the store is in maintenance, and while it
   * holds half a copy: a gateway would serve half of the accounts, and its writes would be in the way of the rest.
   */
  heartbeat(writer: string, ttlMs: number): Promise<'announced' | 'in_maintenance'>;
  removeWriter(writer: string): Promise<void>;
  /**
   * Takes maintenance or prolongs it, as one step: refused while any gateway or another owner is alive. `begun` to an
   * owner that had begun before means that its hold lapsed, and anybody may have written meanwhile.
   */
  beginMaintenance(owner: string, ttlMs: number): Promise<'begun' | 'prolonged' | 'refused'>;
  endMaintenance(owner: string): Promise<void>;
  /** The name of this very store, `candidate` if it has none yet. No copy takes it along. */
  getOrCreateIdentity(candidate: string): Promise<string>;
  /** The identity of the store whose unfinished copy this is. */
  getCopySource(): Promise<string | null>;
  /** Marks the store as an unfinished copy; null when the copy is complete. */
  setCopySource(source: string | null): Promise<void>;
}
