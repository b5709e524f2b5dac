import { type Cancel, type Cancellation, type Clock, abortReason, toAbortSignal } from '@behalf/kernel';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { ItemList } from '../upstream/listAll.ts';
import type { Log } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import { type InternedList, type LoadedInternedList, createListInterner } from './interning.ts';
import { createListStore } from './listStore.ts';
import { type CatalogTool, type ToolList, buildToolList } from './toolList.ts';

export type { CatalogTool, ToolList };

export interface CatalogLimits {
  /** Cached lists of all servers and users. */
  readonly maxLists: number;
  /** Estimated memory of all lists. */
  readonly bytes: number;
  /** Change notifications within this time count as one. The gateway lists no more often than this because of them. */
  readonly settleMs: number;
  /** A list of a legacy server is refreshed in the background after this time. */
  readonly legacyTtlMs: number;
  /** A tool that the list lacks causes a new listing only if the list is older than this. */
  readonly minRefreshAgeMs: number;
  /** Backoff after failures: minimum and maximum. Doubles with each failure. */
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
/** A load starts again if the list was invalidated during the listing. The limit ends this for servers that keep changing. */
const MAX_LOAD_ATTEMPTS = 3;

interface CatalogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<CatalogLimits>;
}

interface CatalogLoadOptions {
  /** Releases only this caller. The listing continues. */
  readonly signal: Cancellation;
  /** `true`: list now. `if-old`: a tool was missing, so list again unless the cached list is recent. */
  readonly refresh?: boolean | 'if-old' | undefined;
  /** For a list that was requested without a credential: cached only until another list is known. */
  readonly onlyIfUnknown?: boolean;
}

/** Owner of the lists of a server: '' for a shared server, otherwise the key of the caller. */
export function ownerKey(server: ServerSnapshot, principal: Principal): string {
  return server.scope === 'app' ? '' : principalKey(principal);
}

/**
 * Cache of the tools of all servers. A list belongs to an owner: to all users for a shared server, otherwise to one user. The
 * gateway ignores `cacheScope: public` of user-scoped servers: it would show the tools of one user to another.
 */
export interface Catalog {
  /** The cached list, possibly stale. */
  peek(server: ServerSnapshot, ownerKey: string): ToolList | undefined;
  /** Whether `load` would refresh the cached list. */
  isStale(server: ServerSnapshot, ownerKey: string): boolean;
  /** One listing at a time for each owner. `list` continues after this caller has left. */
  load(
    server: ServerSnapshot,
    ownerKey: string,
    list: (signal: AbortSignal) => Promise<ItemList>,
    options: CatalogLoadOptions,
  ): Promise<ToolList>;
  /** Drops the cached lists and the results of running listings: the credential or connection changed. No key: all owners. */
  invalidate(serverId: string, ownerKey?: string): void;
  /** The server reported a change: the cached list is served only if a new listing fails. */
  onListChanged(serverId: string, ownerKey?: string): void;
  /** Sets the current servers and drops the lists of other revisions. */
  update(servers: readonly ServerSnapshot[]): void;
  /** Number of cached lists. */
  readonly size: number;
  close(): void;
}

type List = (signal: AbortSignal) => Promise<ItemList>;

export function createCatalog({ clock, log, limits }: CatalogParts): Catalog {
  const { maxLists, bytes, settleMs, legacyTtlMs, minRefreshAgeMs, retryRangeMs } = {
    ...catalogLimits,
    ...limits,
  };
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
      // JSON.stringify overflows the stack on deeply nested values. The server sent them.
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

  /** Caches the result of a listing if it is newer than the cached list, and returns the list for the waiting callers. */
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
    // Invalidated while listing: return the list to the waiting callers, do not cache it.
    if (order < entry.invalidatedAt) return fresh;
    // A listing that started later has finished already.
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

  /** Keeps the cached list and delays the next listing. */
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
    const revision = listEntries.forServer(server);
    return revision && listEntries.get(revision, entryKey(server, ownerKey));
  }

  /** The cached list, if it can be served without waiting for the server. */
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
    const revision = listEntries.forServer(server);
    // The caller still uses a definition that was replaced: do not cache.
    if (!revision) return buildInterned(server, await list(toAbortSignal(signal))).list;
    const entry = listEntries.getOrCreate(revision, entryKey(server, ownerKey));
    // The first load does not count as a use, so many one-time users do not evict the lists of returning users.
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

  /** Caches the list without preventing a later listing with a credential. */
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

/** Rejects an empty owner for user-scoped servers: all users would share the list. */
function entryKey({ scope, name }: ServerSnapshot, ownerKey: string): string {
  if (scope === 'app') return '';
  if (ownerKey === '') throw new TypeError(`The tools of ${name} are per user, but no user was passed`);
  return ownerKey;
}

/** Whether `load` may return the cached list instead of this error. If the server refused the listing, it may not. */
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
  // The waiting callers get the error. After a background refresh the next use lists again.
}

interface ListingFlight {
  /** Listings and invalidations share one sequence. */
  readonly order: number;
  readonly promise: Promise<ToolList>;
}

/** The list of one owner. Small, because there can be thousands. */
interface ListEntry {
  interned: InternedList | undefined;
  loadedAt: number;
  /** `load` lists again after this time. */
  freshUntil: number;
  /** Whether `load` may return a stale list while it refreshes in the background. */
  canServeStale: boolean;
  /** Order of the listing that produced the cached list; 0 if it was requested without a credential. */
  listOrder: number;
  /** Results of listings that started before this are dropped. */
  invalidatedAt: number;
  /** Listings that started before this may have missed a change. */
  changedAt: number;
  failures: number;
  isUsed: boolean;
  flight: ListingFlight | undefined;
}

/** One revision of a server. */
interface CachedRevision {
  readonly key: string;
  readonly serverId: string;
  readonly revision: string;
  /** False after another revision replaced it. */
  isCurrent: boolean;
}

/** The entries of the current revisions of all servers. */
function createListEntries(maxLists: number) {
  const store = createListStore<ListEntry>({ lists: maxLists });
  const revisionOf = new WeakMap<ServerSnapshot, CachedRevision>();
  const revisions = new Map<string, CachedRevision>();
  let currentRevisions: ReadonlyMap<string, string> | undefined;

  const keyOf = ({ tenant, id, scope }: ServerSnapshot) => JSON.stringify([tenant, id, scope]);

  function drop(cached: CachedRevision): void {
    cached.isCurrent = false;
    revisions.delete(cached.key);
    store.deleteServer(cached.key);
  }

  function find(server: ServerSnapshot): CachedRevision | undefined {
    const key = keyOf(server);
    const currentRevision = currentRevisions?.get(key);
    if (currentRevision !== undefined && currentRevision !== server.revision) return undefined;
    let cached = revisions.get(key);
    if (cached?.revision !== server.revision) {
      if (cached) drop(cached);
      cached = { key, serverId: server.id, revision: server.revision, isCurrent: true };
      revisions.set(key, cached);
    }
    revisionOf.set(server, cached);
    return cached;
  }

  return {
    /** Undefined if the revision is not the current one, so nothing may be cached for it. */
    forServer(server: ServerSnapshot): CachedRevision | undefined {
      const known = revisionOf.get(server);
      return known?.isCurrent ? known : find(server);
    },
    get: ({ key }: CachedRevision, owner: string) => store.get(key, owner),
    getOrCreate({ key }: CachedRevision, owner: string): ListEntry {
      const known = store.get(key, owner);
      if (known) return known;
      const entry = createEntry();
      store.set(key, owner, entry);
      return entry;
    },
    findMatching(serverId: string, owner: string | undefined): ListEntry[] {
      return [...revisions.values()]
        .filter((cached) => cached.serverId === serverId)
        .flatMap(({ key }) =>
          owner === undefined
            ? [...store.entries(key)].map(([, entry]) => entry)
            : (store.get(key, owner) ?? []),
        );
    },
    update(servers: readonly ServerSnapshot[]): void {
      currentRevisions = new Map(servers.map((server) => [keyOf(server), server.revision]));
      for (const cached of revisions.values())
        if (currentRevisions.get(cached.key) !== cached.revision) drop(cached);
    },
    get size() {
      return store.size;
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
