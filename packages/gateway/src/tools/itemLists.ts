import { type Clock, createSingleFlight } from '@behalf/kernel';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { ItemList, ListMethod } from '../upstream/listAll.ts';
import { type ListStoreLimits, createListStore, estimateBytes } from './listStore.ts';

/** Short-lived cache of prompts, resources and resource templates. */
export interface ItemListCache {
  /**
   * `ownerKey` as for tools: '' for a shared server, one user otherwise. Concurrent loads share one request. `list` is
   * aborted when all callers have left.
   */
  load(
    server: ServerSnapshot,
    ownerKey: string,
    method: ListMethod,
    list: (signal: AbortSignal) => Promise<ItemList>,
    options?: { readonly fresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<ItemList>;
  /** The last known names and addresses, of any age. Used to find the owner of an item while the server is unavailable. */
  peekLast(server: ServerSnapshot, ownerKey: string, method: ListMethod): ItemList | undefined;
  /** The server reported a change: the lists are not shown again. */
  expire(serverId: string, ownerKey?: string): void;
  /** The credential changed: deletes the lists. */
  invalidate(serverId: string, ownerKey?: string): void;
}

interface ActiveListing {
  readonly generation: number;
  /** More than one if a caller joins while the last one leaves. */
  loadCount: number;
  readonly serverId: string;
  readonly ownerKey: string;
  isValid: boolean;
}

interface StoredItemList {
  readonly ownerKey: string;
  readonly listed: ItemList;
  /** The list is shown until then. Afterwards only names and addresses are kept. */
  readonly expiresAt: number;
  readonly bytes: number;
  isUsed: boolean;
}

/** Every read by name or address looks up these lists, so a short time saves most requests. */
const TTL_MS = 30_000;
const ALREADY_EXPIRED = 0;
const defaultLimits = { lists: 1_000, bytes: 64 * 1024 * 1024, bytesPerServer: 16 * 1024 * 1024 };

interface ItemListCacheParts {
  readonly clock: Clock;
  readonly limits?: ListStoreLimits;
}

export function createItemListCache({ clock, limits: overrides }: ItemListCacheParts): ItemListCache {
  const limits = { ...defaultLimits, ...overrides };
  const store = createListStore<StoredItemList>(limits);
  const flights = createSingleFlight<ItemList>();
  const activeListings = new Map<string, ActiveListing>();
  let lastGeneration = 0;

  /** A listing that started before the invalidation is returned to its callers, but not cached. */
  function invalidateActive(serverId: string, ownerKey: string | undefined): void {
    for (const active of activeListings.values())
      if (active.serverId === serverId && (ownerKey ?? active.ownerKey) === active.ownerKey)
        active.isValid = false;
  }

  function getOrStartListing(flightKey: string, serverId: string, ownerKey: string): ActiveListing {
    const known = activeListings.get(flightKey);
    if (known?.isValid) return known;
    const active = { generation: (lastGeneration += 1), loadCount: 0, serverId, ownerKey, isValid: true };
    activeListings.set(flightKey, active);
    return active;
  }

  function reduce(serverId: string, matches: (stored: StoredItemList) => boolean): void {
    for (const [key, stored] of store.entries(serverId))
      if (matches(stored)) store.set(serverId, key, toReduced(stored));
  }

  function save(serverId: string, key: string, ownerKey: string, listed: ItemList): void {
    const maxBytes = Math.min(limits.bytes, limits.bytesPerServer);
    const expiresAt = clock.now() + TTL_MS;
    const full = { ownerKey, listed, expiresAt, bytes: estimateBytes(listed), isUsed: false };
    const stored = full.bytes > maxBytes ? toReduced(full) : full;
    store.delete(serverId, key);
    if (stored.bytes > maxBytes) return;
    if (!store.hasRoom(serverId, stored.bytes))
      for (const id of store.serverKeys()) reduce(id, (other) => other.expiresAt <= clock.now());
    store.set(serverId, key, stored);
  }

  return {
    async load(server, ownerKey, method, list, { fresh = false, signal } = {}) {
      signal?.throwIfAborted();
      const key = keyOf(server, ownerKey, method);
      const known = fresh ? undefined : store.get(server.id, key);
      if (known && clock.now() < known.expiresAt) return known.listed;
      if (known) store.set(server.id, key, toReduced(known));
      // A fresh load does not join a load that may return a cached list.
      const flightKey = JSON.stringify([key, fresh]);
      const active = getOrStartListing(flightKey, server.id, ownerKey);
      const loadList = async (cancellation: AbortSignal) => {
        active.loadCount += 1;
        try {
          const listed = await list(cancellation);
          if (active.isValid) save(server.id, key, ownerKey, listed);
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
      const stored = store.get(server.id, keyOf(server, ownerKey, method));
      if (stored) stored.isUsed = true;
      return stored?.listed;
    },
    expire(serverId, ownerKey) {
      invalidateActive(serverId, ownerKey);
      reduce(serverId, (stored) => (ownerKey ?? stored.ownerKey) === stored.ownerKey);
    },
    invalidate(serverId, ownerKey) {
      invalidateActive(serverId, ownerKey);
      for (const [key, stored] of store.entries(serverId))
        if ((ownerKey ?? stored.ownerKey) === stored.ownerKey) store.delete(serverId, key);
    },
  };
}

function keyOf({ tenant, id, revision }: ServerSnapshot, ownerKey: string, method: ListMethod): string {
  return JSON.stringify([tenant, id, revision, ownerKey, method]);
}

const identityFields = ['uri', 'uriTemplate', 'name'] as const;

/** Keeps only the names and addresses of the items, and whether the list is complete. */
function toReduced(stored: StoredItemList): StoredItemList {
  if (stored.expiresAt === ALREADY_EXPIRED) return stored;
  const { items, complete, era } = stored.listed;
  const reducedItems = items.map((item) =>
    Object.fromEntries(
      identityFields.flatMap((member) => (typeof item[member] === 'string' ? [[member, item[member]]] : [])),
    ),
  );
  const listed: ItemList = { items: reducedItems, complete, era };
  return { ...stored, listed, expiresAt: ALREADY_EXPIRED, bytes: estimateBytes(listed) };
}
