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
  /** In the order of `CREDS_KEY`: the first key seals everything, the others are being retired. */
  keys: readonly Uint8Array[];
  random: Random;
}

export interface Rotation {
  collection: CollectionName;
  /** Number of sealed values in the collection. */
  sealed: number;
  /** Number of values that this run sealed again. The others already used the first key. */
  resealed: number;
  /** Values that no given key opens, of credentials marked as unreadable. They stay unchanged. */
  unreadable: number;
}

/** The rotation did not start or is incomplete. The message gives the reason and the fix. No value is lost. */
export class RotationError extends Error {
  override readonly name = 'RotationError';
}

const createError = (message: string) => new RotationError(message);

/**
 * The key check comes last. It records which keys are sufficient for this store, so a gateway with only the
 * first key is refused until that key opens every value.
 */
const collectionsBeforeKeyCheck = collectionNames.filter((name) => name !== 'system');

/**
 * Gateways that already write with the first key leave nothing for a second pass. A gateway that restarts
 * during the rotation may leave a few values. If this many passes find values, some gateway still writes with
 * an old key.
 */
const MAX_PASSES = 5;

/**
 * Seals every value again with the first key, while gateways keep running, so that the other keys can be
 * removed. A value is replaced only if it is unchanged since it was read. No concurrent write is lost, and the
 * next pass finds values written with an old key. Values under the first key stay unchanged, so an interrupted
 * rotation is completed by running it again.
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
    // Check that every value opens before changing any.
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

/** The last pass opens every value with the first key; its counts are reported. */
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

/** Result of one pass over a collection. */
interface ResealResult {
  /** Values that open. */
  sealed: number;
  /** Number of values under another key than the first. */
  underOldKey: number;
  /** Number of those values that were unchanged since they were read, and were therefore replaced. */
  resealed: number;
  /** Values that do not open, of credentials marked as unreadable. */
  unreadable: number;
}

interface ResealParts {
  raw: RawCollections;
  keyring: Keyring;
  lease: Pick<MaintenanceLease, 'acquireOrExtend'>;
  createError: (message: string) => Error;
}

/** Opens every value of a collection and seals the values again that are not under the first key. */
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
