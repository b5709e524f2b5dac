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

/**
 * The copy did not start or is incomplete. The message gives the reason and the fix. The source keeps its
 * records.
 */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

const createError = (message: string) => new CopyError(message);

/**
 * Copies every record while both stores are in maintenance, so that no gateway writes. Until the copy is
 * complete, the target carries the identity of the source as a mark. An interrupted copy is completed by
 * running it again: records are written by key, and records that the source has deleted since then, such as
 * ended sessions, are removed.
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
    // Last check that no gateway could have written: removing the mark takes far less time than the lease
    // lasts.
    await lease.acquireOrExtend();
    await to.system.setCopySource(null);
    return results;
  } finally {
    await lease.release();
  }
}

/** True if the target is an unfinished copy of this source. */
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

/** Rejects a target with records of its own: a copy never mixes two stores. */
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

/** Keys of the target that the source does not have, in batches. */
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

/** Reads the copy back: the record counts match, and every sealed value of the target opens. */
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

/** Checked before any record is copied, because a wrong key is the most likely mistake. */
async function assertKeyringMatches(store: PrimaryStore, keyring: Keyring, storeRole: string): Promise<void> {
  const system = await store.raw.page('system', null, PAGE_SIZE);
  verifySealedValues('system', system, keyring, () =>
    createError(
      `CREDS_KEY is not the key the ${storeRole} store was sealed with. Set CREDS_KEY to all keys of that store, separated by commas.`,
    ),
  );
}
