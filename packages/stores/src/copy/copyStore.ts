import {
  collectionNames,
  type CollectionName,
  type PrimaryStore,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Keyring, Random } from '@behalf/kernel';
import { createMaintenanceLease, type MaintenanceLease } from './storeHolds.ts';
import { PAGE_SIZE, readPages, recordKey, verifySealedValues } from './pages.ts';

export interface CopyProgress {
  collection: CollectionName;
  copied: number;
  total: number;
}

interface CopyParts {
  from: PrimaryStore;
  to: PrimaryStore;
  keyring: Keyring;
  random: Random;
  onProgress?: (progress: CopyProgress) => void;
}

/** The copy did not start, or is not complete; the message says why and what to do. The source keeps its records. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

const createError = (message: string) => new CopyError(message);

/**
 * Moves every record, both stores held in maintenance so that no gateway writes either. Until it is complete the target
 * carries the source's identity as a mark, so that a copy that was cut short is finished by running it again: records
 * are put by key, and what the source has lost since then - a session that was signed out - is removed.
 */
export async function copyStore({
  from,
  to,
  keyring,
  random,
  onProgress,
}: CopyParts): Promise<CopyProgress[]> {
  const stores = [
    { store: from, storeLabel: 'source store' },
    { store: to, storeLabel: 'target store' },
  ];
  const lease = createMaintenanceLease({ stores, owner: random.id(), createError });
  try {
    await lease.acquireOrExtend();
    await assertKeyringMatches(from, keyring, 'source');
    await lease.acquireOrExtend();
    await assertKeyringMatches(to, keyring, 'target');
    const sourceIdentity = await from.system.getOrCreateIdentity(random.id());
    const isResumed = await checkCopySource(from, to, sourceIdentity);
    const parts = { from: from.raw, to: to.raw, keyring, lease, onProgress };
    if (!isResumed) {
      for (const name of collectionNames) await assertNoSurplusRecords(name, parts);
      await to.system.setCopySource(sourceIdentity);
    } else {
      for (const name of collectionNames) await removeSurplusRecords(name, parts);
    }
    const results: CopyProgress[] = [];
    for (const name of collectionNames) results.push(await copyCollection(name, parts));
    // The last word on whether anybody could have written: removing the mark takes far less than the hold lasts.
    await lease.acquireOrExtend();
    await to.system.setCopySource(null);
    return results;
  } finally {
    await lease.release();
  }
}

/** True when the target is this source's unfinished copy. */
async function checkCopySource(
  from: PrimaryStore,
  to: PrimaryStore,
  sourceIdentity: string,
): Promise<boolean> {
  if ((await from.system.getCopySource()) !== null) {
    throw createError('The source is itself an unfinished copy. Finish that copy first.');
  }
  const copySource = await to.system.getCopySource();
  if (copySource !== null && copySource !== sourceIdentity) {
    throw createError(
      'The target is the unfinished copy of another store. Finish that copy, or use an empty target.',
    );
  }
  return copySource !== null;
}

interface CollectionParts {
  from: RawCollections;
  to: RawCollections;
  keyring: Keyring;
  lease: MaintenanceLease;
  onProgress: CopyParts['onProgress'];
}

/** A target that holds records of its own is not a copy in the making: nothing is mixed into it. */
async function assertNoSurplusRecords(name: CollectionName, parts: CollectionParts): Promise<void> {
  for await (const [key] of findSurplusKeys(name, parts)) {
    throw createError(
      `The target contains ${name} ${key}, which the source does not contain. Use an empty target; nothing was copied.`,
    );
  }
}

async function removeSurplusRecords(name: CollectionName, parts: CollectionParts): Promise<void> {
  for await (const keys of findSurplusKeys(name, parts)) {
    await parts.lease.acquireOrExtend();
    await parts.to.remove(name, keys);
  }
}

/** The keys of the target that the source does not have, some at a time. */
async function* findSurplusKeys(
  name: CollectionName,
  { from, to, lease }: CollectionParts,
): AsyncGenerator<[string, ...string[]]> {
  if ((await to.count(name)) === 0) return;
  const sourceKeys = new Set<string>();
  for await (const page of readPages(name, from, lease))
    for (const record of page) sourceKeys.add(recordKey(name, record));
  for await (const page of readPages(name, to, lease)) {
    const [first, ...others] = page
      .map((record) => recordKey(name, record))
      .filter((key) => !sourceKeys.has(key));
    if (first !== undefined) yield [first, ...others];
  }
}

async function copyCollection(name: CollectionName, parts: CollectionParts): Promise<CopyProgress> {
  const { from, to, keyring, lease, onProgress } = parts;
  const total = await from.count(name);
  let copied = 0;
  for await (const page of readPages(name, from, lease)) {
    verifySealedValues(name, page, keyring, createError);
    await lease.acquireOrExtend();
    await to.put(name, page);
    copied += page.length;
    onProgress?.({ collection: name, copied, total });
  }
  await verifyCopy(name, parts, total);
  return { collection: name, copied, total };
}

/** Reads back what was written: as many records as in the source, and every sealed value opens from the target. */
async function verifyCopy(
  name: CollectionName,
  { to, keyring, lease }: CollectionParts,
  total: number,
): Promise<void> {
  const targetCount = await to.count(name);
  if (targetCount !== total) {
    throw createError(
      `${name}: the target has ${targetCount} records and the source ${total}. Run the copy again.`,
    );
  }
  for await (const page of readPages(name, to, lease)) verifySealedValues(name, page, keyring, createError);
}

/** Before a single record moves: the wrong key is the likeliest mistake. */
async function assertKeyringMatches(store: PrimaryStore, keyring: Keyring, storeRole: string): Promise<void> {
  const system = await store.raw.page('system', null, PAGE_SIZE);
  verifySealedValues('system', system, keyring, () =>
    createError(
      `CREDS_KEY is not the key the ${storeRole} store was sealed with. Set CREDS_KEY to all keys of that store, separated by commas.`,
    ),
  );
}
