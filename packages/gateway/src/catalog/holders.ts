import type { ServerSnapshot } from '../registry/server.ts';
import type { HeldList } from './internedLists.ts';
import type { ToolList } from './toolList.ts';

/** One listing in the air. */
export interface Flight {
  readonly order: number;
  readonly promise: Promise<ToolList>;
}

/** Whoever has a list: everybody together for a shared server, one user otherwise. Small: there may be thousands. */
export interface Holder {
  held: HeldList | undefined;
  loadedAt: number;
  /** From here on the list is asked for again. */
  freshUntil: number;
  /** It may be served while it is asked for again. */
  soft: boolean;
  /**
   * The order of the listing that `held` came from: an older one that lands later does not replace it. 0 for a list
   * that was shown to nobody in particular: any other is better.
   */
  listOrder: number;
  /** Listings that began before this one are of a time that is over: their answers are dropped. */
  validFrom: number;
  /** Listings that began before this one may have missed a change. */
  changedAt: number;
  failures: number;
  used: boolean;
  flight: Flight | undefined;
}

export interface ServerHolders {
  readonly serverId: string;
  readonly revision: string;
  readonly holders: Map<string, Holder>;
  /** False once another revision took its place. */
  live: boolean;
}

export interface Holders {
  /** Of this revision; undefined when it is not the current one, so nothing may be kept for it. */
  of(server: ServerSnapshot): ServerHolders | undefined;
  obtain(of: ServerHolders, holderKey: string): Holder;
  matching(serverId: string, holderKey: string | undefined): Holder[];
  /** Only these servers, in these revisions. */
  update(servers: readonly ServerSnapshot[]): void;
  readonly size: number;
}

/** Keeps at most `most` holders; the longest unused of the server with the most of them goes first. */
export function createHolders(most: number): Holders {
  const bySnapshot = new WeakMap<ServerSnapshot, ServerHolders>();
  const byKey = new Map<string, ServerHolders>();
  let current: ReadonlyMap<string, string> | undefined;

  const keyOf = ({ tenant, id, scope }: ServerSnapshot) => JSON.stringify([tenant, id, scope]);
  const count = () => [...byKey.values()].reduce((sum, { holders }) => sum + holders.size, 0);

  function makeRoom(): void {
    const [fullest] = [...byKey.values()].sort((a, b) => b.holders.size - a.holders.size);
    for (const [key, holder] of fullest?.holders ?? []) {
      fullest?.holders.delete(key);
      // Used since the last look: a second chance.
      if (!holder.used) return;
      holder.used = false;
      fullest?.holders.set(key, holder);
    }
  }

  function find(server: ServerSnapshot): ServerHolders | undefined {
    const key = keyOf(server);
    const announced = current?.get(key);
    if (announced !== undefined && announced !== server.revision) return undefined;
    let entry = byKey.get(key);
    if (entry?.revision !== server.revision) {
      if (entry) entry.live = false;
      entry = { serverId: server.id, revision: server.revision, holders: new Map(), live: true };
      byKey.set(key, entry);
    }
    bySnapshot.set(server, entry);
    return entry;
  }

  return {
    of(server) {
      const known = bySnapshot.get(server);
      return known?.live ? known : find(server);
    },
    obtain({ holders }, holderKey) {
      let holder = holders.get(holderKey);
      if (!holder) {
        if (count() >= most) makeRoom();
        holder = emptyHolder();
        holders.set(holderKey, holder);
      }
      return holder;
    },
    matching(serverId, holderKey) {
      const entries = [...byKey.values()].filter((entry) => entry.serverId === serverId);
      if (holderKey === undefined) return entries.flatMap(({ holders }) => [...holders.values()]);
      return entries.flatMap(({ holders }) => holders.get(holderKey) ?? []);
    },
    update(servers) {
      current = new Map(servers.map((server) => [keyOf(server), server.revision]));
      for (const [key, entry] of byKey) {
        if (current.get(key) === entry.revision) continue;
        entry.live = false;
        byKey.delete(key);
      }
    },
    get size() {
      return count();
    },
  };
}

function emptyHolder(): Holder {
  return {
    held: undefined,
    loadedAt: 0,
    freshUntil: 0,
    soft: false,
    listOrder: 0,
    validFrom: 0,
    changedAt: 0,
    failures: 0,
    used: false,
    flight: undefined,
  };
}
