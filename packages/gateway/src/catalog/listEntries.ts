import type { ServerSnapshot } from '../registry/server.ts';
import type { InternedList } from './listInterner.ts';
import type { ToolList } from './toolList.ts';

/** One listing in the air. */
export interface ListingFlight {
  readonly order: number;
  readonly promise: Promise<ToolList>;
}

/** Whoever has a list: everybody together for a shared server, one user otherwise. Small: there may be thousands. */
export interface ListEntry {
  interned: InternedList | undefined;
  loadedAt: number;
  /** From here on the list is asked for again. */
  freshUntil: number;
  /** It may be served while it is asked for again. */
  canServeStale: boolean;
  /**
   * The order of the listing that `held` came from: an older one that lands later does not replace it. 0 for a list
   * that was shown to nobody in particular: any other is better.
   */
  listOrder: number;
  /** Listings that began before this one are of a time that is over: their answers are dropped. */
  invalidatedAt: number;
  /** Listings that began before this one may have missed a change. */
  changedAt: number;
  failures: number;
  isUsed: boolean;
  flight: ListingFlight | undefined;
}

export interface ServerListEntries {
  readonly serverId: string;
  readonly revision: string;
  readonly entries: Map<string, ListEntry>;
  /** False once another revision took its place. */
  isCurrent: boolean;
}

export interface ListEntries {
  /** Of this revision; undefined when it is not the current one, so nothing may be kept for it. */
  forServer(server: ServerSnapshot): ServerListEntries | undefined;
  getOrCreate(serverEntries: ServerListEntries, ownerKey: string): ListEntry;
  findMatching(serverId: string, ownerKey: string | undefined): ListEntry[];
  /** Only these servers, in these revisions. */
  update(servers: readonly ServerSnapshot[]): void;
  readonly size: number;
}

/** Keeps at most `most` holders; the longest unused of the server with the most of them goes first. */
export function createListEntries(maxEntries: number): ListEntries {
  const entriesBySnapshot = new WeakMap<ServerSnapshot, ServerListEntries>();
  const entriesByKey = new Map<string, ServerListEntries>();
  let currentRevisions: ReadonlyMap<string, string> | undefined;

  const keyOf = ({ tenant, id, scope }: ServerSnapshot) => JSON.stringify([tenant, id, scope]);
  const countEntries = () => [...entriesByKey.values()].reduce((sum, { entries }) => sum + entries.size, 0);

  function evictOldest(): void {
    const [fullest] = [...entriesByKey.values()].sort((a, b) => b.entries.size - a.entries.size);
    for (const [key, listEntry] of fullest?.entries ?? []) {
      fullest?.entries.delete(key);
      // Used since the last look: a second chance.
      if (!listEntry.isUsed) return;
      listEntry.isUsed = false;
      fullest?.entries.set(key, listEntry);
    }
  }

  function find(server: ServerSnapshot): ServerListEntries | undefined {
    const key = keyOf(server);
    const currentRevision = currentRevisions?.get(key);
    if (currentRevision !== undefined && currentRevision !== server.revision) return undefined;
    let entry = entriesByKey.get(key);
    if (entry?.revision !== server.revision) {
      if (entry) entry.isCurrent = false;
      entry = { serverId: server.id, revision: server.revision, entries: new Map(), isCurrent: true };
      entriesByKey.set(key, entry);
    }
    entriesBySnapshot.set(server, entry);
    return entry;
  }

  return {
    forServer(server) {
      const known = entriesBySnapshot.get(server);
      return known?.isCurrent ? known : find(server);
    },
    getOrCreate({ entries }, ownerKey) {
      let listEntry = entries.get(ownerKey);
      if (!listEntry) {
        if (countEntries() >= maxEntries) evictOldest();
        listEntry = createEntry();
        entries.set(ownerKey, listEntry);
      }
      return listEntry;
    },
    findMatching(serverId, ownerKey) {
      const matchingServers = [...entriesByKey.values()].filter((entry) => entry.serverId === serverId);
      if (ownerKey === undefined) return matchingServers.flatMap(({ entries }) => [...entries.values()]);
      return matchingServers.flatMap(({ entries }) => entries.get(ownerKey) ?? []);
    },
    update(servers) {
      currentRevisions = new Map(servers.map((server) => [keyOf(server), server.revision]));
      for (const [key, entry] of entriesByKey) {
        if (currentRevisions.get(key) === entry.revision) continue;
        entry.isCurrent = false;
        entriesByKey.delete(key);
      }
    },
    get size() {
      return countEntries();
    },
  };
}

function createEntry(): ListEntry {
  return {
    interned: undefined,
    loadedAt: 0,
    freshUntil: 0,
    canServeStale: false,
    listOrder: 0,
    invalidatedAt: 0,
    changedAt: 0,
    failures: 0,
    isUsed: false,
    flight: undefined,
  };
}
