import { createSingleFlight, type Clock } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import { createItemListStore, type ItemListLimits } from './itemListStore.ts';
import type { ItemList, ListMethod } from './listAll.ts';

/** What servers have besides tools, as those who use them saw it a moment ago. */
export interface ItemListCache {
  /**
   * `ownerKey` as for tools: everybody's for a shared server, one user's otherwise. Who asks for the same meanwhile waits
   * for the one answer; `list` ends when nobody waits any more.
   */
  load(
    server: ServerSnapshot,
    ownerKey: string,
    method: ListMethod,
    list: (signal: AbortSignal) => Promise<ItemList>,
    options?: { readonly fresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<ItemList>;
  /** The names and addresses that it last had, however long ago: for whose something is, while nobody can ask. Never shown. */
  peekLast(server: ServerSnapshot, ownerKey: string, method: ListMethod): ItemList | undefined;
  /** The server says that it changed. */
  expire(serverId: string, ownerKey?: string): void;
  /** Another credential: what was listed with the old one is nobody's. */
  invalidate(serverId: string, ownerKey?: string): void;
}

/** A listing under way. */
interface ActiveListing {
  readonly generation: number;
  /** More than one, when somebody comes while the last one leaves. */
  loadCount: number;
  readonly serverId: string;
  readonly ownerKey: string;
  isValid: boolean;
}

/** A name or an address is looked up in them with every read; nobody is shown an older list than this. */
const TTL_MS = 30_000;
const defaultItemListLimits: ItemListLimits = {
  lists: 1_000,
  bytes: 64 * 1024 * 1024,
  bytesPerServer: 16 * 1024 * 1024,
};

export interface ItemListCacheParts {
  readonly clock: Clock;
  readonly limits?: Partial<ItemListLimits>;
}

export function createItemListCache({ clock, limits }: ItemListCacheParts): ItemListCache {
  const store = createItemListStore({ ...defaultItemListLimits, ...limits }, () => clock.now());
  const flights = createSingleFlight<ItemList>();
  const activeListings = new Map<string, ActiveListing>();
  let lastGeneration = 0;

  /** What was listed before it was invalid is nobody's list any more. What others list has nothing to do with it. */
  function invalidateActive(serverId: string, ownerKey: string | undefined): void {
    for (const active of activeListings.values())
      if (belongsTo(active, serverId, ownerKey)) active.isValid = false;
  }

  function getOrStartListing(flightKey: string, serverId: string, ownerKey: string): ActiveListing {
    const known = activeListings.get(flightKey);
    if (known?.isValid) return known;
    const active = { generation: (lastGeneration += 1), loadCount: 0, serverId, ownerKey, isValid: true };
    activeListings.set(flightKey, active);
    return active;
  }

  return {
    async load(server, ownerKey, method, list, { fresh = false, signal } = {}) {
      signal?.throwIfAborted();
      const key = keyOf(server, ownerKey, method);
      const known = fresh ? undefined : store.get(server.id, key);
      if (known && clock.now() < known.expiresAt) return known.listed;
      if (known) store.reduceToNames(server.id, (_, other) => other === key);
      // Nobody joins what began before it was invalid, or what may have been kept when a new look is wanted.
      const flightKey = JSON.stringify([key, fresh]);
      const active = getOrStartListing(flightKey, server.id, ownerKey);
      const loadList = async (cancellation: AbortSignal) => {
        active.loadCount += 1;
        try {
          const listed = await list(cancellation);
          if (active.isValid)
            store.set(server.id, key, { ownerKey, listed, expiresAt: clock.now() + TTL_MS });
          return listed;
        } finally {
          active.loadCount -= 1;
          if (active.loadCount === 0 && activeListings.get(flightKey) === active)
            activeListings.delete(flightKey);
        }
      };
      return flights.run([flightKey, active.generation], loadList, { signal });
    },
    peekLast(server, ownerKey, method) {
      const key = keyOf(server, ownerKey, method);
      // Those that are away are asked for here alone: they are not the first to go.
      store.markUsed(server.id, key);
      return store.get(server.id, key)?.listed;
    },
    expire(serverId, ownerKey) {
      invalidateActive(serverId, ownerKey);
      store.reduceToNames(serverId, (listing) => (ownerKey ?? listing.ownerKey) === listing.ownerKey);
    },
    invalidate(serverId, ownerKey) {
      invalidateActive(serverId, ownerKey);
      store.remove(serverId, (listing) => (ownerKey ?? listing.ownerKey) === listing.ownerKey);
    },
  };
}

function belongsTo(active: ActiveListing, serverId: string, ownerKey: string | undefined): boolean {
  return active.serverId === serverId && (ownerKey ?? active.ownerKey) === active.ownerKey;
}

function keyOf({ tenant, id, revision }: ServerSnapshot, ownerKey: string, method: ListMethod): string {
  return JSON.stringify([tenant, id, revision, ownerKey, method]);
}
