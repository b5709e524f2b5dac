import { abortReason, type Cancel, type Clock, type Cancellation, toAbortSignal } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Log } from '../upstream/parts.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { createHolders, type Flight, type Holder } from './holders.ts';
import { createInternedLists, type Filled } from './internedLists.ts';
import type { Listed } from './listAll.ts';
import { buildToolList, type CatalogTool, type ToolList } from './toolList.ts';

export type { CatalogTool, ToolList };

export interface CatalogLimits {
  /** Lists kept, of all servers and users together. */
  readonly holders: number;
  /** What all of them take in memory, about. */
  readonly bytes: number;
  /** Change notices closer than this count as one, and no list is asked for more often because of them. */
  readonly settleMs: number;
  /** A list without a time of its own is asked for again after this, while it is still served. */
  readonly legacyMs: number;
  /** Before this age, a tool that a list lacks is not looked for again. */
  readonly oldMs: number;
  /** After failures: from here, doubled each time, up to there. */
  readonly retryMs: readonly [number, number];
}

const catalogLimits: CatalogLimits = {
  holders: 10_000,
  bytes: 256 * 1024 * 1024,
  settleMs: 1_000,
  legacyMs: 5 * 60_000,
  oldMs: 10_000,
  retryMs: [250, 30_000],
};
const LONGEST_TTL_MS = 24 * 3_600_000;
/** A listing that was overtaken is begun again; a server that keeps changing is not chased for ever. */
const MOST_ROUNDS = 3;

export interface CatalogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<CatalogLimits>;
}

export interface CatalogLoadOptions {
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
  peek(server: ServerSnapshot, holderKey: string): ToolList | undefined;
  /** What is known should be asked for again; `load` would. */
  isStale(server: ServerSnapshot, holderKey: string): boolean;
  /** One listing at a time for each holder. `list` may run on after this caller has left. */
  load(
    server: ServerSnapshot,
    holderKey: string,
    list: (signal: AbortSignal) => Promise<Listed>,
    options: CatalogLoadOptions,
  ): Promise<ToolList>;
  /** Forgets, and drops the answers still to come: another credential, another connection. Without a key: for all. */
  invalidate(serverId: string, holderKey?: string): void;
  /** The server says its tools changed: the list is served only until it was asked for again. */
  onListChanged(serverId: string, holderKey?: string): void;
  /** The servers as they are now; what belongs to another revision goes. */
  update(servers: readonly ServerSnapshot[]): void;
  /** How many lists are kept. */
  readonly size: number;
  close(): void;
}

type List = (signal: AbortSignal) => Promise<Listed>;

export function createCatalog({ clock, log, limits }: CatalogParts): Catalog {
  const { holders: mostHolders, bytes, settleMs, legacyMs, oldMs, retryMs } = { ...catalogLimits, ...limits };
  const holders = createHolders(mostHolders);
  const interned = createInternedLists(bytes);
  const closing = new AbortController();
  const timers = new Set<Cancel>();
  let orders = 0;

  function build(server: ServerSnapshot, listed: Listed): Filled {
    const { tenant, id, settings } = server;
    const { items, complete, incomplete = null, era, instructions = null } = listed;
    const content = [tenant, id, settings.normalizedName, era, complete, incomplete, instructions, items];
    try {
      return interned.intern(JSON.stringify([tenant, id]), content, () => buildToolList(server, listed, log));
    } catch (cause) {
      // Nested so deep that nothing can write it out. It came over the wire, so it is the server's doing.
      throw cause instanceof RangeError ? new UpstreamError('garbage', { cause }) : cause;
    }
  }

  function start(server: ServerSnapshot, holder: Holder, list: List): Flight {
    orders += 1;
    const order = orders;
    const work = async () => {
      try {
        return land(server, holder, order, await list(closing.signal), list);
      } catch (error) {
        putOff(holder);
        throw error;
      }
    };
    const flight: Flight = { order, promise: work() };
    holder.flight = flight;
    const landed = () => {
      if (holder.flight === flight) holder.flight = undefined;
    };
    flight.promise.then(landed, landed);
    return flight;
  }

  /** What becomes known of a listing, and what its waiters get. */
  function land(server: ServerSnapshot, holder: Holder, order: number, listed: Listed, list: List): ToolList {
    const held = build(server, listed);
    const fresh = held.list;
    const known = holder.held?.list;
    // It began before something that ended its validity: a reconnect, another credential.
    if (order < holder.validFrom) return fresh;
    // A later listing was faster: what it saw is newer.
    if (known && order < holder.listOrder) return known;
    if (known?.complete && holder.listOrder > 0 && !listed.complete) {
      putOff(holder);
      return known;
    }
    const now = clock.now();
    holder.held = held;
    holder.listOrder = order;
    holder.loadedAt = now;
    holder.soft = listed.era === 'legacy';
    holder.freshUntil = now + (holder.soft ? legacyMs : Math.min(listed.ttlMs ?? 0, LONGEST_TTL_MS));
    if (listed.complete) holder.failures = 0;
    else putOff(holder);
    if (order < holder.changedAt) {
      expire(holder);
      later(() => {
        if (!holder.flight && holder.changedAt > holder.listOrder)
          start(server, holder, list).promise.catch(ignore);
      });
    }
    return fresh;
  }

  /** Keeps what is there, and does not ask again at once. */
  function putOff(holder: Holder): void {
    const wait = Math.min(retryMs[0] * 2 ** Math.min(holder.failures, 20), retryMs[1]);
    holder.failures += 1;
    holder.freshUntil = clock.now() + wait;
  }

  function expire(holder: Holder): void {
    holder.freshUntil = 0;
    holder.soft = false;
  }

  function later(run: () => void): void {
    if (closing.signal.aborted) return;
    const cancel = clock.timer(settleMs, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  }

  function find(server: ServerSnapshot, holderKey: string): Holder | undefined {
    return holders.of(server)?.holders.get(keyFor(server, holderKey));
  }

  /** What can be served without asking. */
  function enough(server: ServerSnapshot, holder: Holder, list: List, refresh: boolean | 'if-old') {
    const { held, loadedAt, freshUntil } = holder;
    const known = held?.list;
    if (!known || refresh === true) return undefined;
    const now = clock.now();
    if (now - loadedAt < settleMs) return known;
    if (refresh === 'if-old') {
      const wait = holder.failures > 0 ? freshUntil : loadedAt + oldMs;
      return now < wait ? known : undefined;
    }
    if (now < freshUntil) return known;
    if (!holder.soft) return undefined;
    if (!holder.flight) start(server, holder, list).promise.catch(ignore);
    return known;
  }

  async function load(
    server: ServerSnapshot,
    holderKey: string,
    list: List,
    { signal, refresh = false, onlyIfUnknown = false }: CatalogLoadOptions,
  ): Promise<ToolList> {
    if (signal.aborted) throw abortReason(signal);
    const of = holders.of(server);
    // Somebody still works with a definition that was replaced: what they see is kept for nobody.
    if (!of) return build(server, await list(toAbortSignal(signal))).list;
    const holder = holders.obtain(of, keyFor(server, holderKey));
    // Coming once is no use yet: a crowd of newcomers must not push out those who come back.
    holder.used = holder.held !== undefined;
    if (onlyIfUnknown) return loadUnlessKnown(server, holder, list, signal);
    const known = enough(server, holder, list, refresh);
    if (known) {
      if (holder.held) holder.held.used = true;
      return known;
    }
    for (let round = 1; ; round += 1) {
      const inAir = refresh === true && round === 1 ? undefined : joinable(holder);
      const flight = inAir ?? start(server, holder, list);
      try {
        const found = await orLeave(flight.promise, signal);
        if (flight.order >= holder.validFrom || round === MOST_ROUNDS) return found;
      } catch (error) {
        if (holder.held?.list && refresh !== true && isPassing(error)) return holder.held.list;
        throw error;
      }
    }
  }

  /** Better than nothing, and never in the way of what a user would see with a credential. */
  async function loadUnlessKnown(server: ServerSnapshot, holder: Holder, list: List, signal: Cancellation) {
    orders += 1;
    const order = orders;
    const held = build(server, await list(toAbortSignal(signal)));
    if (holder.held?.list) return holder.held.list;
    if (order < holder.validFrom) return held.list;
    holder.held = held;
    holder.listOrder = 0;
    holder.loadedAt = Number.NEGATIVE_INFINITY;
    expire(holder);
    return held.list;
  }

  function joinable({ flight, validFrom }: Holder): Flight | undefined {
    return flight && flight.order >= validFrom ? flight : undefined;
  }

  return {
    peek(server, holderKey) {
      const holder = find(server, holderKey);
      if (!holder) return undefined;
      holder.used = true;
      if (holder.held) holder.held.used = true;
      return holder.held?.list;
    },
    isStale(server, holderKey) {
      const holder = find(server, holderKey);
      return holder?.held?.list !== undefined && clock.now() >= holder.freshUntil;
    },
    load,
    invalidate(serverId, holderKey) {
      orders += 1;
      for (const holder of holders.matching(serverId, holderKey)) {
        holder.validFrom = orders;
        holder.held = undefined;
        holder.failures = 0;
      }
    },
    onListChanged(serverId, holderKey) {
      orders += 1;
      for (const holder of holders.matching(serverId, holderKey)) {
        holder.changedAt = orders;
        expire(holder);
      }
    },
    update: (servers) => holders.update(servers),
    get size() {
      return holders.size;
    },
    close() {
      for (const cancel of timers) cancel();
      timers.clear();
      closing.abort(new DOMException('The gateway is shutting down', 'AbortError'));
    },
  };
}

/** A shared server has one list; for any other, a list without an owner would be everybody's. */
function keyFor({ scope, name }: ServerSnapshot, holderKey: string): string {
  if (scope === 'app') return '';
  if (holderKey === '') throw new TypeError(`The tools of ${name} belong to a user, and none is named`);
  return holderKey;
}

/** The server will be back, and its tools are likely the same. A refusal is an answer: it is told. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  return error.outcome === 'unreachable' || error.outcome === 'unknown' || error.reason === 'rate_limited';
}

function orLeave<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(abortReason(signal));
    signal.addEventListener('abort', leave);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function ignore(): void {
  // Whoever waits for the list is told; in the background the next use asks again.
}
