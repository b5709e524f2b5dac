import {
  type CollectionName,
  KEY_CHECK,
  type PrimaryStore,
  type RawCollections,
  collectionNames,
} from '@behalf/gateway/ports';
import { type Keyring, type Random, createKeyring } from '@behalf/kernel';
import { PAGE_SIZE, countSealedValues, openSealedValues, readPages, verifySealedValues } from './pages.ts';
import { type MaintenanceLease, createWriterPresence } from './storeHolds.ts';

interface RotationParts {
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
  /** Values that no key here opens, of credentials known to be unreadable: left as they are. */
  unreadable: number;
}

/** The rotation did not start, or is not complete; the message says why and what to do. No value is lost. */
export class RotationError extends Error {
  override readonly name = 'RotationError';
}

const createError = (message: string) => new RotationError(message);

/**
 * The key check last: it says which keys are enough for this store, so a gateway with the first key alone is refused
 * until the last value can be opened with it.
 */
const collectionsBeforeKeyCheck = collectionNames.filter((name) => name !== 'system');

/**
 * Gateways that write with the first key leave nothing for a second pass. One that is being restarted may leave a little;
 * where this many find something, one of them goes on writing with an old key.
 */
const MAX_PASSES = 5;

/**
 * Seals every value anew under the first key, so that the others can be thrown away, while gateways go on. A value is
 * replaced only where it still is what was read: nothing that a gateway writes meanwhile is lost, and what it writes under
 * an old key the next pass finds. A value that is under the first key already is left as it is, so a rotation that was cut
 * short is finished by running it again.
 */
export async function rotateStore({ store, keys, random }: RotationParts): Promise<Rotation[]> {
  const keyring = createKeyring(keys, random);
  const writerPresence = createWriterPresence({
    system: store.system,
    writer: `rotation-${random.id()}`,
    createError,
  });
  const parts = { raw: store.raw, keyring, lease: writerPresence, createError };
  try {
    await assertRotatable(store, keyring);
    // All of it can be opened, or nothing is changed.
    for (const name of collectionNames)
      for await (const page of readPages(name, store.raw, writerPresence))
        verifySealedValues(name, page, keyring, createError);
    return [
      ...(await resealUntilComplete(collectionsBeforeKeyCheck, parts)),
      ...(await resealUntilComplete(['system'], parts)),
    ];
  } finally {
    await writerPresence.release();
  }
}

async function assertRotatable(store: PrimaryStore, keyring: Keyring): Promise<void> {
  if ((await store.system.getCopySource()) !== null) {
    throw createError('This store is an unfinished copy. Finish the copy first, then run this again.');
  }
  const system = await store.raw.page('system', null, PAGE_SIZE);
  if (!system.some((row) => row.name === KEY_CHECK)) {
    throw createError('No gateway has used this store yet: there is nothing to rotate.');
  }
  verifySealedValues('system', system, keyring, () =>
    createError(
      'CREDS_KEY does not contain the key this store was sealed with. Set the new key first and the old key after it, separated by a comma. Nothing was changed.',
    ),
  );
}

/** The last pass has opened every value under the first key, and its counts are the ones that are told. */
async function resealUntilComplete(
  names: readonly CollectionName[],
  parts: ResealParts,
): Promise<Rotation[]> {
  const resealed = new Map(names.map((name) => [name, 0]));
  for (let passCount = 1; passCount <= MAX_PASSES; passCount += 1) {
    const results = new Map<CollectionName, ResealResult>();
    for (const name of names) {
      const pass = await resealCollection(name, parts);
      results.set(name, pass);
      resealed.set(name, (resealed.get(name) ?? 0) + pass.resealed);
    }
    if ([...results.values()].every(({ underOldKey }) => underOldKey === 0)) {
      return [...results].map(([collection, { sealed, unreadable }]) => ({
        collection,
        sealed,
        resealed: resealed.get(collection) ?? 0,
        unreadable,
      }));
    }
  }
  throw createError(
    'A gateway still seals values with an old key. In the CREDS_KEY of every gateway, set the new key first and the old key after it. Restart the gateways, then run this again. No value is lost.',
  );
}

/** What one pass over a collection met. */
interface ResealResult {
  /** Values that open. */
  sealed: number;
  /** How many of them were under another key than the first. */
  underOldKey: number;
  /** And were still as they were read when they were replaced. */
  resealed: number;
  /** Values that do not open, of credentials known to be unreadable. */
  unreadable: number;
}

interface ResealParts {
  raw: RawCollections;
  keyring: Keyring;
  lease: Pick<MaintenanceLease, 'acquireOrExtend'>;
  createError: (message: string) => Error;
}

/** Opens every value of a collection, and seals anew those that are not under the first key. */
async function resealCollection(
  name: CollectionName,
  { raw, keyring, lease, createError }: ResealParts,
): Promise<ResealResult> {
  const result: ResealResult = { sealed: 0, underOldKey: 0, resealed: 0, unreadable: 0 };
  for await (const page of readPages(name, raw, lease)) {
    const opened = [...openSealedValues(name, page, keyring, createError)];
    const resealedValues = opened
      .map(({ key, field, value, context }) => ({
        key,
        field,
        oldValue: value,
        newValue: keyring.rewrap(value, context),
      }))
      .filter(({ oldValue, newValue }) => newValue !== oldValue);
    result.sealed += opened.length;
    result.unreadable += countSealedValues(name, page) - opened.length;
    result.underOldKey += resealedValues.length;
    if (resealedValues.length > 0) result.resealed += await raw.reseal(name, resealedValues);
  }
  return result;
}
