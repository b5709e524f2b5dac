import { createHash } from 'node:crypto';
import { bytesInMemory } from './bytesInMemory.ts';
import type { ToolList } from './toolList.ts';

/** A list as its holders have it: all of them lose it together when it is put out for lack of room. */
export interface HeldList {
  list: ToolList | undefined;
  used: boolean;
}

/** One that has just been asked for. */
export type Filled = HeldList & { readonly list: ToolList };

export interface InternedLists {
  /** `content` is everything that the list is made of. */
  intern(serverKey: string, content: readonly unknown[], build: () => ToolList): Filled;
}

interface Known {
  readonly held: WeakRef<HeldList>;
  readonly bytes: number;
}

/**
 * One object for all lists that say the same: ten thousand users of one server mostly see the same tools. Held weakly,
 * so that a list goes with its last holder. Together they take no more than `mostBytes`: a server may show every user
 * another list as large as one may be. Then the longest unused go, of the server whose lists take the most.
 */
export function createInternedLists(mostBytes: number): InternedLists {
  const byServer = new Map<string, Map<string, Known>>();
  let total = 0;
  const gone = new FinalizationRegistry<[serverKey: string, key: string, known: Known]>(
    ([server, key, known]) => {
      // A list that says the same may have come meanwhile.
      if (byServer.get(server)?.get(key) === known) forget(server, key, known);
    },
  );

  function forget(serverKey: string, key: string, { held, bytes }: Known): void {
    const lists = byServer.get(serverKey);
    lists?.delete(key);
    if (lists?.size === 0) byServer.delete(serverKey);
    total -= bytes;
    const holding = held.deref();
    if (holding) holding.list = undefined;
  }

  function makeRoom(): void {
    const sizes = [...byServer].map(([key, lists]) => [key, bytesOf(lists)] as const);
    const [fullest] = sizes.reduce((most, other) => (other[1] > most[1] ? other : most));
    const lists = byServer.get(fullest);
    for (const [key, known] of lists ?? []) {
      const held = known.held.deref();
      if (!held?.used) return forget(fullest, key, known);
      // Used since the last look: a second chance.
      held.used = false;
      lists?.delete(key);
      lists?.set(key, known);
    }
  }

  return {
    intern(serverKey, content, build) {
      const text = JSON.stringify(content);
      const key = createHash('sha256').update(text).digest('base64');
      const present = byServer.get(serverKey)?.get(key)?.held.deref();
      if (present && isFilled(present)) return present;
      const bytes = bytesInMemory(content);
      while (byServer.size > 0 && total + bytes > mostBytes) makeRoom();
      const held = { list: build(), used: false };
      const known: Known = { held: new WeakRef(held), bytes };
      const lists = byServer.get(serverKey) ?? new Map<string, Known>();
      byServer.set(serverKey, lists.set(key, known));
      total += bytes;
      gone.register(held, [serverKey, key, known]);
      return held;
    },
  };
}

function isFilled(held: HeldList): held is Filled {
  return held.list !== undefined;
}

function bytesOf(lists: ReadonlyMap<string, Known>): number {
  let sum = 0;
  for (const { bytes } of lists.values()) sum += bytes;
  return sum;
}
