import { createSingleFlight, type Clock } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Listed, ListMethod } from './listAll.ts';

/** What servers have besides tools, as those who use them saw it a moment ago. */
export interface Listings {
  /**
   * `holderKey` as for tools: everybody's for a shared server, one user's otherwise. Who asks for the same meanwhile waits
   * for the one answer; `list` ends when nobody waits any more.
   */
  load(
    server: ServerSnapshot,
    holderKey: string,
    method: ListMethod,
    list: (signal: AbortSignal) => Promise<Listed>,
    options?: { readonly fresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<Listed>;
  /** What it last had, however long ago: for whose something is, while nobody can ask. Never shown. */
  last(server: ServerSnapshot, holderKey: string, method: ListMethod): Listed | undefined;
  /** The server says that it changed. */
  expire(serverId: string, holderKey?: string): void;
  /** Another credential: what was listed with the old one is nobody's. */
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
  const flights = createSingleFlight<Listed>();
  let invalidations = 0;

  function keep(key: string, entry: Kept): void {
    kept.delete(key);
    if (kept.size >= MOST) kept.delete(kept.keys().next().value as string);
    kept.set(key, entry);
  }

  function matching(serverId: string, holderKey: string | undefined): [string, Kept][] {
    return [...kept].filter(
      ([, entry]) => entry.serverId === serverId && (holderKey ?? entry.holderKey) === entry.holderKey,
    );
  }

  return {
    async load(server, holderKey, method, list, { fresh = false, signal } = {}) {
      const key = keyOf(server, holderKey, method);
      const known = fresh ? undefined : kept.get(key);
      if (known && clock.now() < known.until) return known.listed;
      const begun = invalidations;
      const look = async (stop: AbortSignal) => {
        const listed = await list(stop);
        // What was listed before it was invalid is nobody's list any more.
        if (begun === invalidations && listed.items.length <= MOST_ITEMS)
          keep(key, { serverId: server.id, holderKey, listed, until: clock.now() + KEPT_MS });
        return listed;
      };
      // Nobody joins what began before it was invalid, or what may have been kept when a new look is wanted.
      return flights.run([key, fresh, begun], look, { signal });
    },
    last(server, holderKey, method) {
      const key = keyOf(server, holderKey, method);
      const found = kept.get(key);
      // Those that are away are asked for here alone: they are not the first to go.
      if (found) keep(key, found);
      return found?.listed;
    },
    expire(serverId, holderKey) {
      invalidations += 1;
      for (const [key, entry] of matching(serverId, holderKey)) kept.set(key, { ...entry, until: 0 });
    },
    invalidate(serverId, holderKey) {
      invalidations += 1;
      for (const [key] of matching(serverId, holderKey)) kept.delete(key);
    },
  };
}

function keyOf({ tenant, id, revision }: ServerSnapshot, holderKey: string, method: ListMethod): string {
  return JSON.stringify([tenant, id, revision, holderKey, method]);
}
