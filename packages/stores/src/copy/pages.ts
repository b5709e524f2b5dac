import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { MaintenanceLease } from './maintenanceLease.ts';

export const PAGE_SIZE = 200;
/** A page is in memory as a whole: of what may be large, fewer. */
const SMALLER_PAGE_SIZES: { readonly [N in CollectionName]?: number } = {
  chatMessages: 10,
  blocks: 20,
  sets: 20,
  runs: 5,
};

/** Every record, page by page; the hold is prolonged before each, however long a collection is. */
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
