import { collectionShapes, type CollectionName, type Collections } from '@behalf/gateway/ports';
import { SealError, type Keyring } from '@behalf/kernel';
import { keyOf } from './pages.ts';

/** Opens every sealed value of the records and says how many there were; throws with the name of one that does not. */
export function openSealed<N extends CollectionName>(
  name: N,
  records: readonly Collections[N][],
  keyring: Keyring,
  refuse: (message: string) => Error,
): number {
  let opened = 0;
  for (const record of records) {
    for (const { value, context } of collectionShapes[name].sealed(record)) {
      try {
        keyring.open(value, context);
        opened += 1;
      } catch (error) {
        const reason = error instanceof SealError ? error.reason : 'unreadable';
        throw refuse(
          `${name} ${keyOf(name, record)}: its sealed ${context.field} does not open (${reason}). Set CREDS_KEY to every key this store was sealed with.`,
        );
      }
    }
  }
  return opened;
}
