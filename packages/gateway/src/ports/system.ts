/** What a store knows of itself: whose key seals it, which gateways write it, whether it is being moved. */
export interface SystemStore {
  /** Stores `candidate` if there is no key check yet, and returns the one that counts. */
  keyCheck(candidate: string): Promise<string>;
  /** A gateway's sign of life, repeated before `ttlMs` is over. Refused while the store is in maintenance. */
  announce(writer: string, ttlMs: number): Promise<'announced' | 'in_maintenance'>;
  retire(writer: string): Promise<void>;
  /** Takes or prolongs maintenance as one step: refused while any gateway or another owner is alive. */
  beginMaintenance(owner: string, ttlMs: number): Promise<'begun' | 'refused'>;
  endMaintenance(owner: string): Promise<void>;
}
