/**
 * Version of everything a store contains: tables and collections, their fields, and the layout of sealed
 * payloads. SQLite stores it in `PRAGMA user_version`, MongoDB in its state document. A change of the layout
 * increments it.
 */
export const STORAGE_FORMAT = 100;

/** The store exists, but this version cannot read it. The message is complete and includes the fix. */
export class StorageFormatError extends Error {
  override readonly name = 'StorageFormatError';
}

interface StoreLabel {
  /** Subject of the message: `The data directory /data`. */
  subject: string;
  /** Instruction for an operator who wants a new store: `Start with an empty BEHALF_DATA_DIR.` */
  remedy: string;
}

/** `found` is null for a store with records but no format number. */
export function assertStorageFormat(found: number | null, { subject, remedy }: StoreLabel): void {
  if (found === STORAGE_FORMAT) return;
  if (found !== null && found > STORAGE_FORMAT) {
    throw new StorageFormatError(
      `${subject} was written by a newer version of Behalf (storage format ${found}, this version reads format ${STORAGE_FORMAT}). Start that version, or restore a backup.`,
    );
  }
  const format = found === null ? 'the unnumbered storage format' : `storage format ${found}`;
  throw new StorageFormatError(
    `${subject} uses ${format} of an earlier preview. This version reads format ${STORAGE_FORMAT} only. ${remedy}`,
  );
}
