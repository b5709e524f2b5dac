import { createHash } from 'node:crypto';
import type { ToolList } from './toolList.ts';

/** A list as its holders have it: all of them lose it together when it is put out for lack of room. */
export interface InternedList {
  list: ToolList | undefined;
  isUsed: boolean;
}

/** One that has just been asked for. */
export type LoadedInternedList = InternedList & { readonly list: ToolList };

interface ListInterner {
  /** `content` is everything that the list is made of. */
  intern(serverKey: string, content: readonly unknown[], build: () => ToolList): LoadedInternedList;
}

interface InternedRecord {
  readonly listRef: WeakRef<InternedList>;
  readonly bytes: number;
}

/**
 * One object for all lists that say the same: ten thousand users of one server mostly see the same tools. Held weakly,
 * so that a list goes with its last holder. Together they take no more than `maxBytes`: a server may show every user
 * another list as large as one may be. Then the longest unused go, of the server whose lists take the most.
 */
export function createListInterner(maxBytes: number): ListInterner {
  const byServer = new Map<string, Map<string, InternedRecord>>();
  let totalBytes = 0;
  const collectedLists = new FinalizationRegistry<[serverKey: string, key: string, known: InternedRecord]>(
    ([server, key, record]) => {
      // A list that says the same may have come meanwhile.
      if (byServer.get(server)?.get(key) === record) removeRecord(server, key, record);
    },
  );

  function removeRecord(serverKey: string, key: string, { listRef, bytes }: InternedRecord): void {
    const lists = byServer.get(serverKey);
    lists?.delete(key);
    if (lists?.size === 0) byServer.delete(serverKey);
    totalBytes -= bytes;
    const internedList = listRef.deref();
    if (internedList) internedList.list = undefined;
  }

  function evictFromFullest(): void {
    const sizes = [...byServer].map(([key, lists]) => [key, sumBytes(lists)] as const);
    const [fullest] = sizes.reduce((largest, other) => (other[1] > largest[1] ? other : largest));
    const lists = byServer.get(fullest);
    for (const [key, record] of lists ?? []) {
      const internedList = record.listRef.deref();
      if (!internedList?.isUsed) return removeRecord(fullest, key, record);
      // Used since the last look: a second chance.
      internedList.isUsed = false;
      lists?.delete(key);
      lists?.set(key, record);
    }
  }

  return {
    intern(serverKey, content, build) {
      const text = JSON.stringify(content);
      const key = createHash('sha256').update(text).digest('base64');
      const existing = byServer.get(serverKey)?.get(key)?.listRef.deref();
      if (existing && isLoaded(existing)) return existing;
      const bytes = estimateBytes(content);
      while (byServer.size > 0 && totalBytes + bytes > maxBytes) evictFromFullest();
      const internedList = { list: build(), isUsed: false };
      const record: InternedRecord = { listRef: new WeakRef(internedList), bytes };
      const lists = byServer.get(serverKey) ?? new Map<string, InternedRecord>();
      byServer.set(serverKey, lists.set(key, record));
      totalBytes += bytes;
      collectedLists.register(internedList, [serverKey, key, record]);
      return internedList;
    },
  };
}

function isLoaded(internedList: InternedList): internedList is LoadedInternedList {
  return internedList.list !== undefined;
}

function sumBytes(lists: ReadonlyMap<string, InternedRecord>): number {
  let sum = 0;
  for (const { bytes } of lists.values()) sum += bytes;
  return sum;
}

/** An empty array is two characters, and twenty times that in memory. */
const BYTES_PER_OBJECT = 40;
const BYTES_PER_VALUE = 8;

/** What parsed JSON takes, about. Without recursion: whoever sent it chose how deep it goes. */
export function estimateBytes(value: object): number {
  let bytes = 0;
  const pending: object[] = [value];
  for (let next = pending.pop(); next; next = pending.pop()) {
    bytes += BYTES_PER_OBJECT;
    if (!Array.isArray(next)) for (const key of Object.keys(next)) bytes += key.length;
    for (const member of Object.values(next) as unknown[]) {
      bytes += BYTES_PER_VALUE;
      if (typeof member === 'string') bytes += member.length;
      else if (typeof member === 'object' && member !== null) pending.push(member);
    }
  }
  return bytes;
}
