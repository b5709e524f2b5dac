import { type Clock, createSingleFlight } from '@behalf/kernel';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { ItemList, ListMethod } from '../upstream/listAll.ts';
import { estimateBytes } from './interning.ts';

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

interface ItemListCacheParts {
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

interface ItemListLimits {
  /** In all. */
  readonly lists: number;
  readonly bytes: number;
  /** Of one server, for all who use it. */
  readonly bytesPerServer: number;
}

interface StoredItemList {
  readonly ownerKey: string;
  readonly listed: ItemList;
  /** Until when it may be shown; from then on only names and addresses are left of it. */
  readonly expiresAt: number;
}

interface ItemListStore {
  get(serverId: string, key: string): StoredItemList | undefined;
  set(serverId: string, key: string, listing: StoredItemList): void;
  /** It is not the first to go. */
  markUsed(serverId: string, key: string): void;
  /** Nobody is shown it any more. */
  reduceToNames(serverId: string, matches: (listing: StoredItemList, key: string) => boolean): void;
  remove(serverId: string, matches: (listing: StoredItemList) => boolean): void;
}

interface SizedItemList extends StoredItemList {
  readonly bytes: number;
}

interface ServerItemLists {
  readonly lists: Map<string, SizedItemList>;
  bytes: number;
}

/**
 * Lists of what servers have, within a number and bytes. A server may show every user another list as large as one may be: what goes
 * is the longest unused, of the server that has the most.
 */
function createItemListStore(limits: ItemListLimits, now: () => number): ItemListStore {
  const servers = new Map<string, ServerItemLists>();
  let bytes = 0;
  let count = 0;

  function insert(serverId: string, key: string, stored: SizedItemList): void {
    const server = servers.get(serverId) ?? { lists: new Map<string, SizedItemList>(), bytes: 0 };
    servers.set(serverId, server);
    server.lists.set(key, stored);
    server.bytes += stored.bytes;
    bytes += stored.bytes;
    count += 1;
  }

  function removeList(serverId: string, key: string): SizedItemList | undefined {
    const server = servers.get(serverId);
    const stored = server?.lists.get(key);
    if (!server || !stored) return undefined;
    server.lists.delete(key);
    server.bytes -= stored.bytes;
    if (server.lists.size === 0) servers.delete(serverId);
    bytes -= stored.bytes;
    count -= 1;
    return stored;
  }

  function reduceMatching(serverId: string, matches: (stored: SizedItemList, key: string) => boolean): void {
    const server = servers.get(serverId);
    for (const [key, stored] of server?.lists ?? []) {
      if (!matches(stored, key)) continue;
      const reduced = toReduced(stored);
      const freedBytes = stored.bytes - reduced.bytes;
      // In its place: which one goes first stays as it is.
      server?.lists.set(key, reduced);
      if (server) server.bytes -= freedBytes;
      bytes -= freedBytes;
    }
  }

  function evictOldestOf(serverId: string): void {
    const [oldestKey] = servers.get(serverId)?.lists.keys() ?? [];
    if (oldestKey !== undefined) removeList(serverId, oldestKey);
  }

  function evictUntilFits(serverId: string, needed: number): void {
    const exceedsTotal = () => bytes + needed > limits.bytes;
    const serverBytes = () => servers.get(serverId)?.bytes ?? 0;
    // Of what is too old to be shown less is needed: that comes before anything is lost.
    if (exceedsTotal() || serverBytes() + needed > limits.bytesPerServer)
      for (const id of servers.keys()) reduceMatching(id, ({ expiresAt }) => expiresAt <= now());
    while (serverBytes() > 0 && serverBytes() + needed > limits.bytesPerServer) evictOldestOf(serverId);
    while (count > 0 && exceedsTotal()) evictOldestOf(findFullest((server) => server.bytes));
    while (count >= limits.lists) evictOldestOf(findFullest(({ lists }) => lists.size));
  }

  function findFullest(size: (server: ServerItemLists) => number): string {
    const [[id]] = [...servers].sort(([, a], [, b]) => size(b) - size(a)) as [[string, ServerItemLists]];
    return id;
  }

  return {
    get: (serverId, key) => servers.get(serverId)?.lists.get(key),
    set(serverId, key, listing) {
      removeList(serverId, key);
      const sized = { ...listing, bytes: estimateBytes(listing.listed) };
      const exceedsLimit = (stored: SizedItemList) =>
        stored.bytes > Math.min(limits.bytesPerServer, limits.bytes);
      const stored = exceedsLimit(sized) ? toReduced(sized) : sized;
      if (exceedsLimit(stored)) return;
      evictUntilFits(serverId, stored.bytes);
      insert(serverId, key, stored);
    },
    markUsed(serverId, key) {
      const stored = removeList(serverId, key);
      if (stored) insert(serverId, key, stored);
    },
    reduceToNames: reduceMatching,
    remove(serverId, matches) {
      for (const [key, stored] of [...(servers.get(serverId)?.lists ?? [])])
        if (matches(stored)) removeList(serverId, key);
    },
  };
}

const ALREADY_EXPIRED = 0;
const identityFields = ['uri', 'uriTemplate', 'name'] as const;

/** By what its items are known, and whether that is all of them. */
function toReduced(stored: SizedItemList): SizedItemList {
  if (stored.expiresAt === ALREADY_EXPIRED) return stored;
  const { items, complete, era } = stored.listed;
  const reducedItems = items.map((item) =>
    Object.fromEntries(
      identityFields.flatMap((member) => (typeof item[member] === 'string' ? [[member, item[member]]] : [])),
    ),
  );
  const listed: ItemList = { items: reducedItems, complete, era };
  return { ownerKey: stored.ownerKey, listed, expiresAt: ALREADY_EXPIRED, bytes: estimateBytes(listed) };
}
