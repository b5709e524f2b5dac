import { collectionShapes, type CollectionName, type Collections } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';

/** The record with every sealed value of it sealed by this keyring, for the place where it stands. */
export function sealRecord<N extends CollectionName>(
  keyring: Keyring,
  name: N,
  record: Collections[N],
): Collections[N] {
  const fields = collectionShapes[name].sealed(record);
  return {
    ...record,
    ...Object.fromEntries(fields.map(({ field, context }) => [field, keyring.seal('{}', context)])),
  };
}
