import {
  collectionNames,
  collectionShapes,
  KEY_CHECK,
  type CollectionName,
  type Collections,
  type PrimaryStore,
} from '@behalf/gateway/ports';
import { createKeyring, type Keyring, type Random } from '@behalf/kernel';
import { createHold, type Hold } from './hold.ts';
import { openSealed } from './openSealed.ts';
import { PAGE, pagesOf } from './pages.ts';

export interface RotationParts {
  store: PrimaryStore;
  /** As CREDS_KEY lists them: the first is to seal everything, the others are on their way out. */
  keys: readonly Uint8Array[];
  random: Random;
}

export interface Rotation {
  collection: CollectionName;
  /** Sealed values in it. */
  sealed: number;
  /** How many of them this run sealed anew; the others were under the first key already. */
  resealed: number;
}

/** The rotation did not start, or is not complete; the message says why and what to do. No value is lost. */
export class RotationRefused extends Error {
  override readonly name = 'RotationRefused';
}

const refuse = (message: string) => new RotationRefused(message);

/**
 * The key check last: it says which keys are enough for this store, so a gateway with the first key alone is refused
 * until the last value can be opened with it.
 */
const order = [...collectionNames.filter((name) => name !== 'system'), 'system' as const];

/**
 * Seals every value anew under the first key, so that the others can be thrown away. Values keep their context; one that
 * is under the first key already is left as it is, so a rotation that was cut short is finished by running it again.
 */
export async function rotateStore({ store, keys, random }: RotationParts): Promise<Rotation[]> {
  const keyring = createKeyring(keys, random);
  const firstAlone = createKeyring(keys.slice(0, 1), random);
  const hold = createHold({ stores: [{ store, which: 'store' }], owner: random.id(), refuse });
  try {
    await hold.keep();
    await checkStore(store, keyring);
    // All of it can be opened, or nothing is changed.
    for (const name of order) await openAll(name, store, keyring, hold);
    const done: Rotation[] = [];
    for (const name of order) {
      const resealed = await resealCollection(name, store, keyring, hold);
      done.push({ collection: name, sealed: await openAll(name, store, firstAlone, hold), resealed });
    }
    await hold.keep();
    return done;
  } finally {
    await hold.release();
  }
}

async function checkStore(store: PrimaryStore, keyring: Keyring): Promise<void> {
  if ((await store.system.copySource()) !== null) {
    throw refuse('This store is an unfinished copy. Finish the copy first, then run this again.');
  }
  const system = await store.raw.page('system', null, PAGE);
  if (!system.some((row) => row.name === KEY_CHECK)) {
    throw refuse('No gateway has used this store yet: there is nothing to rotate.');
  }
  openSealed('system', system, keyring, () =>
    refuse(
      'CREDS_KEY does not hold the key this store was sealed with. Set the new key first and the old one after it, separated by a comma; nothing was changed.',
    ),
  );
}

async function openAll(
  name: CollectionName,
  { raw }: PrimaryStore,
  keyring: Keyring,
  hold: Hold,
): Promise<number> {
  let sealed = 0;
  for await (const page of pagesOf(name, raw, hold)) sealed += openSealed(name, page, keyring, refuse);
  return sealed;
}

async function resealCollection(
  name: CollectionName,
  { raw }: PrimaryStore,
  keyring: Keyring,
  hold: Hold,
): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(name, raw, hold)) {
    const { changed, resealed } = reseal(name, page, keyring);
    count += resealed;
    if (changed.length === 0) continue;
    // A whole record is written back: if somebody else could have changed it since it was read, it must not be.
    await hold.keep();
    await raw.put(name, changed);
  }
  return count;
}

/** The records that change, and how many values in them. */
function reseal<N extends CollectionName>(
  name: N,
  records: readonly Collections[N][],
  keyring: Keyring,
): { changed: Collections[N][]; resealed: number } {
  const changed: Collections[N][] = [];
  let resealed = 0;
  for (const record of records) {
    const values = collectionShapes[name]
      .sealed(record)
      .map(({ field, value, context }) => ({ field, value, anew: keyring.rewrap(value, context) }))
      .filter(({ value, anew }) => anew !== value);
    if (values.length === 0) continue;
    changed.push({ ...record, ...Object.fromEntries(values.map(({ field, anew }) => [field, anew])) });
    resealed += values.length;
  }
  return { changed, resealed };
}
