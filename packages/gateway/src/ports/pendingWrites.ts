/**
 * Pairs that were received and could not be stored. Apart from the primary store, because that is what failed. Values are
 * sealed by who puts them in.
 */
export interface PendingWriteStore {
  put(id: string, sealed: string): Promise<void>;
  /** Reads it and leaves it: it goes when what it holds is stored. */
  find(id: string): Promise<string | null>;
  /** Only this very value: whoever has stored theirs takes nothing away that was put in later. */
  remove(id: string, sealed: string): Promise<void>;
}
