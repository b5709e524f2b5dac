import { createHash } from 'node:crypto';
import { createListStore, estimateBytes } from './listStore.ts';
import type { ToolList } from './toolList.ts';

/** A list that several owners share. Eviction removes it from all of them. */
export interface InternedList {
  list: ToolList | undefined;
  isUsed: boolean;
}

/** An interned list that was not evicted. */
export type LoadedInternedList = InternedList & { readonly list: ToolList };

interface ListInterner {
  /** `content` holds everything that determines the list. */
  intern(serverKey: string, content: readonly unknown[], build: () => ToolList): LoadedInternedList;
}

/** Holds the list weakly, so a list is collected with its last owner. */
class InternedRecord {
  readonly listRef: WeakRef<InternedList>;
  readonly bytes: number;

  constructor(internedList: InternedList, bytes: number) {
    this.listRef = new WeakRef(internedList);
    this.bytes = bytes;
  }

  get isUsed(): boolean {
    return this.listRef.deref()?.isUsed === true;
  }

  set isUsed(isUsed: boolean) {
    const internedList = this.listRef.deref();
    if (internedList) internedList.isUsed = isUsed;
  }
}

/**
 * Keeps one object for all equal lists: ten thousand users of one server mostly see the same tools. The lists take at most
 * `maxBytes` together, because a server can show every user a different large list.
 */
export function createListInterner(maxBytes: number): ListInterner {
  const store = createListStore<InternedRecord>({ bytes: maxBytes }, ({ listRef }) => {
    const internedList = listRef.deref();
    if (internedList) internedList.list = undefined;
  });
  const collectedLists = new FinalizationRegistry<[serverKey: string, key: string, record: InternedRecord]>(
    ([serverKey, key, record]) => {
      // An equal list may have replaced the collected one.
      if (store.get(serverKey, key) === record) store.delete(serverKey, key);
    },
  );

  return {
    intern(serverKey, content, build) {
      const key = createHash('sha256').update(JSON.stringify(content)).digest('base64');
      const existing = store.get(serverKey, key)?.listRef.deref();
      if (existing && isLoaded(existing)) return existing;
      const internedList = { list: build(), isUsed: false };
      const record = new InternedRecord(internedList, estimateBytes(content));
      store.set(serverKey, key, record);
      collectedLists.register(internedList, [serverKey, key, record]);
      return internedList;
    },
  };
}

function isLoaded(internedList: InternedList): internedList is LoadedInternedList {
  return internedList.list !== undefined;
}
