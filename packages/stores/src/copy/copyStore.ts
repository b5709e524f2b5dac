import {
  collectionNames,
  type CollectionName,
  type PrimaryStore,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Keyring, Random } from '@behalf/kernel';
import { createHold, type Hold } from './hold.ts';
import { openSealed } from './openSealed.ts';
import { keyOf, PAGE, pagesOf } from './pages.ts';

export interface CopyProgress {
  collection: CollectionName;
  copied: number;
  total: number;
}

export interface CopyParts {
  from: PrimaryStore;
  to: PrimaryStore;
  keyring: Keyring;
  random: Random;
  onProgress?: (progress: CopyProgress) => void;
}

/** The copy did not start, or is not complete; the message says why and what to do. The source keeps its records. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

const refuse = (message: string) => new CopyRefused(message);

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
    { store: from, which: 'source store' },
    { store: to, which: 'target store' },
  ];
  const hold = createHold({ stores, owner: random.id(), refuse });
  try {
    await hold.acquireOrExtend();
    await checkKeys(from, keyring, 'source');
    await hold.acquireOrExtend();
    await checkKeys(to, keyring, 'target');
    const source = await from.system.getOrCreateIdentity(random.id());
    const marked = await markOf(from, to, source);
    const parts = { from: from.raw, to: to.raw, keyring, hold, onProgress };
    if (!marked) {
      for (const name of collectionNames) await refuseStrangers(name, parts);
      await to.system.setCopySource(source);
    } else {
      for (const name of collectionNames) await removeSurplus(name, parts);
    }
    const done: CopyProgress[] = [];
    for (const name of collectionNames) done.push(await copyCollection(name, parts));
    // The last word on whether anybody could have written: removing the mark takes far less than the hold lasts.
    await hold.acquireOrExtend();
    await to.system.setCopySource(null);
    return done;
  } finally {
    await hold.release();
  }
}

/** True when the target is this source's unfinished copy. */
async function markOf(from: PrimaryStore, to: PrimaryStore, source: string): Promise<boolean> {
  if ((await from.system.getCopySource()) !== null) {
    throw refuse(
      'The source is itself an unfinished copy: it does not hold everything. Finish that one first.',
    );
  }
  const mark = await to.system.getCopySource();
  if (mark !== null && mark !== source) {
    throw refuse(
      'The target is the unfinished copy of another store. Finish that one, or use an empty target.',
    );
  }
  return mark !== null;
}

interface CollectionParts {
  from: RawCollections;
  to: RawCollections;
  keyring: Keyring;
  hold: Hold;
  onProgress: CopyParts['onProgress'];
}

/** A target that holds records of its own is not a copy in the making: nothing is mixed into it. */
async function refuseStrangers(name: CollectionName, parts: CollectionParts): Promise<void> {
  for await (const [key] of surplusOf(name, parts)) {
    throw refuse(
      `The target holds ${name} ${key}, which the source does not have. Use an empty target; nothing was copied.`,
    );
  }
}

async function removeSurplus(name: CollectionName, parts: CollectionParts): Promise<void> {
  for await (const keys of surplusOf(name, parts)) {
    await parts.hold.acquireOrExtend();
    await parts.to.remove(name, keys);
  }
}

/** The keys of the target that the source does not have, some at a time. */
async function* surplusOf(
  name: CollectionName,
  { from, to, hold }: CollectionParts,
): AsyncGenerator<[string, ...string[]]> {
  if ((await to.count(name)) === 0) return;
  const known = new Set<string>();
  for await (const page of pagesOf(name, from, hold))
    for (const record of page) known.add(keyOf(name, record));
  for await (const page of pagesOf(name, to, hold)) {
    const [first, ...others] = page.map((record) => keyOf(name, record)).filter((key) => !known.has(key));
    if (first !== undefined) yield [first, ...others];
  }
}

async function copyCollection(name: CollectionName, parts: CollectionParts): Promise<CopyProgress> {
  const { from, to, keyring, hold, onProgress } = parts;
  const total = await from.count(name);
  let copied = 0;
  for await (const page of pagesOf(name, from, hold)) {
    openSealed(name, page, keyring, refuse);
    await hold.acquireOrExtend();
    await to.put(name, page);
    copied += page.length;
    onProgress?.({ collection: name, copied, total });
  }
  await verify(name, parts, total);
  return { collection: name, copied, total };
}

/** Reads back what was written: as many records as in the source, and every sealed value opens from the target. */
async function verify(
  name: CollectionName,
  { to, keyring, hold }: CollectionParts,
  total: number,
): Promise<void> {
  const found = await to.count(name);
  if (found !== total) {
    throw refuse(`${name}: the target has ${found} records and the source ${total}. Run the copy again.`);
  }
  for await (const page of pagesOf(name, to, hold)) openSealed(name, page, keyring, refuse);
}

/** Before a single record moves: the wrong key is the likeliest mistake. */
async function checkKeys(store: PrimaryStore, keyring: Keyring, which: string): Promise<void> {
  const system = await store.raw.page('system', null, PAGE);
  openSealed('system', system, keyring, () =>
    refuse(
      `CREDS_KEY is not the key the ${which} store was sealed with. Set that key, all of its keys separated by commas.`,
    ),
  );
}
