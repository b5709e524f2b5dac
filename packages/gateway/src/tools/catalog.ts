import { type Cancel, type Cancellation, type Clock, abortReason, toAbortSignal } from '@behalf/kernel';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { ItemList } from '../upstream/listAll.ts';
import type { Log } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type InternedList, type LoadedInternedList, createListInterner } from './interning.ts';
import { type CatalogTool, type ToolList, buildToolList } from './toolList.ts';

export type { CatalogTool, ToolList };

export interface CatalogLimits {
  /** Lists kept, of all servers and users together. */
  readonly maxLists: number;
  /** What all of them take in memory, about. */
  readonly bytes: number;
  /** Change notices closer than this count as one, and no list is asked for more often because of them. */
  readonly settleMs: number;
  /** A list without a time of its own is asked for again after this, while it is still served. */
  readonly legacyTtlMs: number;
  /** Before this age, a tool that a list lacks is not looked for again. */
  readonly minRefreshAgeMs: number;
  /** After failures: from here, doubled each time, up to there. */
  readonly retryRangeMs: readonly [number, number];
}

const catalogLimits: CatalogLimits = {
  maxLists: 10_000,
  bytes: 256 * 1024 * 1024,
  settleMs: 1_000,
  legacyTtlMs: 5 * 60_000,
  minRefreshAgeMs: 10_000,
  retryRangeMs: [250, 30_000],
};
const MAX_TTL_MS = 24 * 3_600_000;
/** A listing that was overtaken is begun again; a server that keeps changing is not chased for ever. */
const MAX_LOAD_ATTEMPTS = 3;

interface CatalogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<CatalogLimits>;
}

interface CatalogLoadOptions {
  /** Releases this caller alone; the listing goes on for whoever comes next. */
  readonly signal: Cancellation;
  /** `true`: ask now, whatever is known. `if-old`: something was missing, so ask unless the list is quite new. */
  readonly refresh?: boolean | 'if-old' | undefined;
  /**
   * The list was shown to nobody in particular (a server asked without a credential): it is kept only where there is
   * none, and until there is another.
   */
  readonly onlyIfUnknown?: boolean;
}

/**
 * The tools of every server, as those who use it see them. A list belongs to a holder: to everybody for a shared server,
 * to one user otherwise, whatever the server says about caching (`cacheScope: public` would let it show one user's
 * tools to another).
 */
export interface Catalog {
  /** What is known, without waiting; possibly not the newest. */
  peek(server: ServerSnapshot, ownerKey: string): ToolList | undefined;
  /** What is known should be asked for again; `load` would. */
  isStale(server: ServerSnapshot, ownerKey: string): boolean;
  /** One listing at a time for each holder. `list` may run on after this caller has left. */
  load(
    server: ServerSnapshot,
    ownerKey: string,
    list: (signal: AbortSignal) => Promise<ItemList>,
    options: CatalogLoadOptions,
  ): Promise<ToolList>;
  /** Forgets, and drops the answers still to come: another credential, another connection. Without a key: for all. */
  invalidate(serverId: string, ownerKey?: string): void;
  /** The server says its tools changed: the list is served only until it was asked for again. */
  onListChanged(serverId: string, ownerKey?: string): void;
  /** The servers as they are now; what belongs to another revision goes. */
  update(servers: readonly ServerSnapshot[]): void;
  /** How many lists are kept. */
  readonly size: number;
  close(): void;
}

type List = (signal: AbortSignal) => Promise<ItemList>;

export function createCatalog({ clock, log, limits }: CatalogParts): Catalog {
  const {
    maxLists: maxLists,
    bytes,
    settleMs,
    legacyTtlMs,
    minRefreshAgeMs,
    retryRangeMs,
  } = { ...catalogLimits, ...limits };
  const listEntries = createListEntries(maxLists);
  const interner = createListInterner(bytes);
  const closeController = new AbortController();
  const timers = new Set<Cancel>();
  let lastOrder = 0;

  function buildInterned(server: ServerSnapshot, listed: ItemList): LoadedInternedList {
    const { tenant, id, settings } = server;
    const { items, complete, incomplete = null, era, instructions = null } = listed;
    const content = [tenant, id, settings.normalizedName, era, complete, incomplete, instructions, items];
    try {
      return interner.intern(JSON.stringify([tenant, id]), content, () => buildToolList(server, listed, log));
    } catch (cause) {
      // Nested so deep that nothing can write it out. It came over the wire, so it is the server's doing.
      throw cause instanceof RangeError ? new UpstreamError('invalid_response', { cause }) : cause;
    }
  }

  function startListing(server: ServerSnapshot, entry: ListEntry, list: List): ListingFlight {
    lastOrder += 1;
    const order = lastOrder;
    const work = async () => {
      try {
        return storeListing(server, entry, order, await list(closeController.signal), list);
      } catch (error) {
        backOff(entry);
        throw error;
      }
    };
    const flight: ListingFlight = { order, promise: work() };
    entry.flight = flight;
    const clearFlight = () => {
      if (entry.flight === flight) entry.flight = undefined;
    };
    flight.promise.then(clearFlight, clearFlight);
    return flight;
  }

  /** What becomes known of a listing, and what its waiters get. */
  function storeListing(
    server: ServerSnapshot,
    entry: ListEntry,
    order: number,
    listed: ItemList,
    list: List,
  ): ToolList {
    const internedList = buildInterned(server, listed);
    const fresh = internedList.list;
    const known = entry.interned?.list;
    // It began before something that ended its validity: a reconnect, another credential.
    if (order < entry.invalidatedAt) return fresh;
    // A later listing was faster: what it saw is newer.
    if (known && order < entry.listOrder) return known;
    if (known?.complete && entry.listOrder > 0 && !listed.complete) {
      backOff(entry);
      return known;
    }
    const now = clock.now();
    entry.interned = internedList;
    entry.listOrder = order;
    entry.loadedAt = now;
    entry.canServeStale = listed.era === 'legacy';
    entry.freshUntil = now + (entry.canServeStale ? legacyTtlMs : Math.min(listed.ttlMs ?? 0, MAX_TTL_MS));
    if (listed.complete) entry.failures = 0;
    else backOff(entry);
    if (order < entry.changedAt) {
      markStale(entry);
      runLater(() => {
        if (!entry.flight && entry.changedAt > entry.listOrder)
          startListing(server, entry, list).promise.catch(ignore);
      });
    }
    return fresh;
  }

  /** Keeps what is there, and does not ask again at once. */
  function backOff(entry: ListEntry): void {
    const delayMs = Math.min(retryRangeMs[0] * 2 ** Math.min(entry.failures, 20), retryRangeMs[1]);
    entry.failures += 1;
    entry.freshUntil = clock.now() + delayMs;
  }

  function markStale(entry: ListEntry): void {
    entry.freshUntil = 0;
    entry.canServeStale = false;
  }

  function runLater(run: () => void): void {
    if (closeController.signal.aborted) return;
    const cancel = clock.timer(settleMs, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  }

  function findEntry(server: ServerSnapshot, ownerKey: string): ListEntry | undefined {
    return listEntries.forServer(server)?.entries.get(entryKey(server, ownerKey));
  }

  /** What can be served without asking. */
  function getServable(server: ServerSnapshot, entry: ListEntry, list: List, refresh: boolean | 'if-old') {
    const { interned, loadedAt, freshUntil } = entry;
    const known = interned?.list;
    if (!known || refresh === true) return undefined;
    const now = clock.now();
    if (now - loadedAt < settleMs) return known;
    if (refresh === 'if-old') {
      const refreshAt = entry.failures > 0 ? freshUntil : loadedAt + minRefreshAgeMs;
      return now < refreshAt ? known : undefined;
    }
    if (now < freshUntil) return known;
    if (!entry.canServeStale) return undefined;
    if (!entry.flight) startListing(server, entry, list).promise.catch(ignore);
    return known;
  }

  async function load(
    server: ServerSnapshot,
    ownerKey: string,
    list: List,
    { signal, refresh = false, onlyIfUnknown = false }: CatalogLoadOptions,
  ): Promise<ToolList> {
    if (signal.aborted) throw abortReason(signal);
    const serverEntries = listEntries.forServer(server);
    // Somebody still works with a definition that was replaced: what they see is kept for nobody.
    if (!serverEntries) return buildInterned(server, await list(toAbortSignal(signal))).list;
    const entry = listEntries.getOrCreate(serverEntries, entryKey(server, ownerKey));
    // Coming once is no use yet: a crowd of newcomers must not push out those who come back.
    entry.isUsed = entry.interned !== undefined;
    if (onlyIfUnknown) return loadIfUnknown(server, entry, list, signal);
    const known = getServable(server, entry, list, refresh);
    if (known) {
      if (entry.interned) entry.interned.isUsed = true;
      return known;
    }
    for (let attempt = 1; ; attempt += 1) {
      const joined = refresh === true && attempt === 1 ? undefined : getJoinable(entry);
      const flight = joined ?? startListing(server, entry, list);
      try {
        const tools = await waitUnlessAborted(flight.promise, signal);
        if (flight.order >= entry.invalidatedAt || attempt === MAX_LOAD_ATTEMPTS) return tools;
      } catch (error) {
        if (entry.interned?.list && refresh !== true && isTransient(error)) return entry.interned.list;
        throw error;
      }
    }
  }

  /** Better than nothing, and never in the way of what a user would see with a credential. */
  async function loadIfUnknown(server: ServerSnapshot, entry: ListEntry, list: List, signal: Cancellation) {
    lastOrder += 1;
    const order = lastOrder;
    const internedList = buildInterned(server, await list(toAbortSignal(signal)));
    if (entry.interned?.list) return entry.interned.list;
    if (order < entry.invalidatedAt) return internedList.list;
    entry.interned = internedList;
    entry.listOrder = 0;
    entry.loadedAt = Number.NEGATIVE_INFINITY;
    markStale(entry);
    return internedList.list;
  }

  function getJoinable({ flight, invalidatedAt: validFrom }: ListEntry): ListingFlight | undefined {
    return flight && flight.order >= validFrom ? flight : undefined;
  }

  return {
    peek(server, ownerKey) {
      const entry = findEntry(server, ownerKey);
      if (!entry) return undefined;
      entry.isUsed = true;
      if (entry.interned) entry.interned.isUsed = true;
      return entry.interned?.list;
    },
    isStale(server, ownerKey) {
      const entry = findEntry(server, ownerKey);
      return entry?.interned?.list !== undefined && clock.now() >= entry.freshUntil;
    },
    load,
    invalidate(serverId, ownerKey) {
      lastOrder += 1;
      for (const entry of listEntries.findMatching(serverId, ownerKey)) {
        entry.invalidatedAt = lastOrder;
        entry.interned = undefined;
        entry.failures = 0;
      }
    },
    onListChanged(serverId, ownerKey) {
      lastOrder += 1;
      for (const entry of listEntries.findMatching(serverId, ownerKey)) {
        entry.changedAt = lastOrder;
        markStale(entry);
      }
    },
    update: (servers) => listEntries.update(servers),
    get size() {
      return listEntries.size;
    },
    close() {
      for (const cancel of timers) cancel();
      timers.clear();
      closeController.abort(new DOMException('The gateway is shutting down', 'AbortError'));
    },
  };
}

/** A shared server has one list; for any other, a list without an owner would be everybody's. */
function entryKey({ scope, name }: ServerSnapshot, ownerKey: string): string {
  if (scope === 'app') return '';
  if (ownerKey === '') throw new TypeError(`The tools of ${name} are per user, but no user was passed`);
  return ownerKey;
}

/** The server will be back, and its tools are likely the same. A refusal is an answer: it is told. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  return error.outcome === 'unreachable' || error.outcome === 'unknown' || error.reason === 'rate_limited';
}

function waitUnlessAborted<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortReason(signal));
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function ignore(): void {
  // Whoever waits for the list is told; in the background the next use asks again.
}

/** One listing in the air. */
interface ListingFlight {
  readonly order: number;
  readonly promise: Promise<ToolList>;
}

/** Whoever has a list: everybody together for a shared server, one user otherwise. Small: there may be thousands. */
interface ListEntry {
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

interface ServerListEntries {
  readonly serverId: string;
  readonly revision: string;
  readonly entries: Map<string, ListEntry>;
  /** False once another revision took its place. */
  isCurrent: boolean;
}

interface ListEntries {
  /** Of this revision; undefined when it is not the current one, so nothing may be kept for it. */
  forServer(server: ServerSnapshot): ServerListEntries | undefined;
  getOrCreate(serverEntries: ServerListEntries, ownerKey: string): ListEntry;
  findMatching(serverId: string, ownerKey: string | undefined): ListEntry[];
  /** Only these servers, in these revisions. */
  update(servers: readonly ServerSnapshot[]): void;
  readonly size: number;
}

/** Keeps at most `most` holders; the longest unused of the server with the most of them goes first. */
function createListEntries(maxEntries: number): ListEntries {
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
