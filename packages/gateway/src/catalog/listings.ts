import type { Clock } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Listed, ListMethod } from './listAll.ts';

/** What servers have besides tools, as those who use them saw it a moment ago. */
export interface Listings {
  /** `holderKey` as for tools: everybody's for a shared server, one user's otherwise. */
  load(
    server: ServerSnapshot,
    holderKey: string,
    method: ListMethod,
    list: () => Promise<Listed>,
    options?: { fresh?: boolean },
  ): Promise<Listed>;
  peek(server: ServerSnapshot, holderKey: string, method: ListMethod): Listed | undefined;
  /** Another credential, or the server says that it changed. */
  invalidate(serverId: string, holderKey?: string): void;
}

interface Kept {
  readonly serverId: string;
  readonly holderKey: string;
  readonly listed: Listed;
  readonly until: number;
}

/** A name or an address is looked up in them with every read; nobody is shown an older list than this. */
const KEPT_MS = 30_000;
const MOST = 1_000;
const MOST_ITEMS = 5_000;

export function createListings({ clock }: { readonly clock: Clock }): Listings {
  const kept = new Map<string, Kept>();
  let invalidations = 0;

  function find(key: string): Kept | undefined {
    const found = kept.get(key);
    if (found && clock.now() < found.until) return found;
    if (found) kept.delete(key);
    return undefined;
  }

  return {
    async load(server, holderKey, method, list, { fresh = false } = {}) {
      const key = keyOf(server, holderKey, method);
      const known = fresh ? undefined : find(key)?.listed;
      if (known) return known;
      const begun = invalidations;
      const listed = await list();
      // What was listed before it was invalid is nobody's list any more.
      if (begun !== invalidations || listed.items.length > MOST_ITEMS) return listed;
      if (kept.size >= MOST) kept.delete(kept.keys().next().value as string);
      kept.set(key, { serverId: server.id, holderKey, listed, until: clock.now() + KEPT_MS });
      return listed;
    },
    peek: (server, holderKey, method) => find(keyOf(server, holderKey, method))?.listed,
    invalidate(serverId, holderKey) {
      invalidations += 1;
      for (const [key, entry] of kept) {
        if (entry.serverId !== serverId) continue;
        if (holderKey === undefined || entry.holderKey === holderKey) kept.delete(key);
      }
    },
  };
}

function keyOf({ tenant, id, revision }: ServerSnapshot, holderKey: string, method: ListMethod): string {
  return JSON.stringify([tenant, id, revision, holderKey, method]);
}
