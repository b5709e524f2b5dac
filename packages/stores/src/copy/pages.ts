import {
  collectionShapes,
  type CollectionName,
  type Collections,
  type RawCollections,
} from '@behalf/gateway/ports';
import type { Hold } from './hold.ts';

export const PAGE = 200;
/** A page is in memory as a whole: of what may be large, fewer. */
const smallerPages: { readonly [N in CollectionName]?: number } = {
  chatMessages: 10,
  blocks: 20,
  sets: 20,
  runs: 5,
};

/** Every record, page by page; the hold is prolonged before each, however long a collection is. */
export async function* pagesOf<N extends CollectionName>(
  name: N,
  raw: RawCollections,
  hold: Pick<Hold, 'acquireOrExtend'>,
): AsyncGenerator<Collections[N][]> {
  for (let after: string | null = null; ;) {
    await hold.acquireOrExtend();
    const page: Collections[N][] = await raw.page(name, after, smallerPages[name] ?? PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = keyOf(name, last);
  }
}

export function keyOf<N extends CollectionName>(name: N, record: Collections[N]): string {
  return String(record[collectionShapes[name].key]);
}
