import {
  type CollectionName,
  type Collections,
  type RawCollections,
  type SealedField,
  collectionShapes,
} from '@behalf/gateway/ports';
import { type Keyring, SealError } from '@behalf/kernel';
import type { MaintenanceLease } from './storeHolds.ts';

export const PAGE_SIZE = 200;
/** A page is held in memory as a whole: collections with large records have smaller pages. */
const SMALLER_PAGE_SIZES: { readonly [N in CollectionName]?: number } = {
  chatMessages: 10,
  blocks: 20,
  sets: 20,
  runs: 5,
};

/**
 * Every record, page by page. Extends the maintenance lease before each page, so that the collection may be of
 * any length.
 */
export async function* readPages<N extends CollectionName>(
  name: N,
  raw: RawCollections,
  lease: Pick<MaintenanceLease, 'acquireOrExtend'>,
): AsyncGenerator<Collections[N][]> {
  for (let after: string | null = null; ;) {
    await lease.acquireOrExtend();
    const page: Collections[N][] = await raw.page(name, after, SMALLER_PAGE_SIZES[name] ?? PAGE_SIZE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = recordKey(name, last);
  }
}

export function recordKey<N extends CollectionName>(name: N, record: Collections[N]): string {
  return String(record[collectionShapes[name].key]);
}

type CreateError = (message: string) => Error;

/**
 * Opens every sealed value of the records. Throws with the name of the value that does not open. Skips
 * credentials that the vault has marked as unreadable: the user already knows, and the record waits for its
 * key.
 */
export function* openSealedValues<N extends CollectionName>(
  name: N,
  records: readonly Collections[N][],
  keyring: Keyring,
  createError: CreateError,
): Generator<SealedField<Collections[N]> & { key: string }> {
  for (const record of records) {
    for (const sealed of collectionShapes[name].sealed(record)) {
      const key = recordKey(name, record);
      try {
        keyring.open(sealed.value, sealed.context);
      } catch (error) {
        if (isKnownUnreadable(name, record)) continue;
        const reason = error instanceof SealError ? error.reason : 'unreadable';
        throw createError(
          `${name} ${key}: its sealed ${sealed.context.field} cannot be decrypted (${reason}). Set CREDS_KEY to every key this store was sealed with.`,
        );
      }
      yield { ...sealed, key };
    }
  }
}

/** Returns the number of values. */
export function verifySealedValues<N extends CollectionName>(
  name: N,
  records: readonly Collections[N][],
  keyring: Keyring,
  createError: CreateError,
): number {
  return [...openSealedValues(name, records, keyring, createError)].length;
}

/** The number of sealed values, including values that do not open. */
export function countSealedValues<N extends CollectionName>(
  name: N,
  records: readonly Collections[N][],
): number {
  return records.reduce((count, record) => count + collectionShapes[name].sealed(record).length, 0);
}

function isKnownUnreadable<N extends CollectionName>(name: N, record: Collections[N]): boolean {
  return name === 'credentials' && (record as Collections['credentials']).status === 'unreadable';
}
