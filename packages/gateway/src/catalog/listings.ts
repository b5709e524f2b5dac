import { createSingleFlight, type Clock } from '@behalf/kernel';
import type { ServerSnapshot } from '../registry/server.ts';
import { createKeptListings, type ListingLimits } from './keptListings.ts';
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
  /** The names and addresses that it last had, however long ago: for whose something is, while nobody can ask. Never shown. */
  last(server: ServerSnapshot, holderKey: string, method: ListMethod): Listed | undefined;
  /** The server says that it changed. */
  expire(serverId: string, holderKey?: string): void;
  /** Another credential: what was listed with the old one is nobody's. */
  invalidate(serverId: string, holderKey?: string): void;
}

/** A listing under way. */
interface Begun {
  readonly turn: number;
  /** More than one, when somebody comes while the last one leaves. */
  looks: number;
  readonly serverId: string;
  readonly holderKey: string;
  isValid: boolean;
}

/** A name or an address is looked up in them with every read; nobody is shown an older list than this. */
const KEPT_MS = 30_000;
const listingLimits: ListingLimits = {
  lists: 1_000,
  bytes: 64 * 1024 * 1024,
  ofServer: 16 * 1024 * 1024,
};

export interface ListingsParts {
  readonly clock: Clock;
  readonly limits?: Partial<ListingLimits>;
}

export function createListings({ clock, limits }: ListingsParts): Listings {
  const kept = createKeptListings({ ...listingLimits, ...limits }, () => clock.now());
  const flights = createSingleFlight<Listed>();
  const underWay = new Map<string, Begun>();
  let turns = 0;

  /** What was listed before it was invalid is nobody's list any more. What others list has nothing to do with it. */
  function overtake(serverId: string, holderKey: string | undefined): void {
    for (const begun of underWay.values()) if (isOf(begun, serverId, holderKey)) begun.isValid = false;
  }

  function begin(place: string, serverId: string, holderKey: string): Begun {
    const known = underWay.get(place);
    if (known?.isValid) return known;
    const begun = { turn: (turns += 1), looks: 0, serverId, holderKey, isValid: true };
    underWay.set(place, begun);
    return begun;
  }

  return {
    async load(server, holderKey, method, list, { fresh = false, signal } = {}) {
      signal?.throwIfAborted();
      const key = keyOf(server, holderKey, method);
      const known = fresh ? undefined : kept.get(server.id, key);
      if (known && clock.now() < known.until) return known.listed;
      if (known) kept.shorten(server.id, (_, other) => other === key);
      // Nobody joins what began before it was invalid, or what may have been kept when a new look is wanted.
      const place = JSON.stringify([key, fresh]);
      const begun = begin(place, server.id, holderKey);
      const look = async (stop: AbortSignal) => {
        begun.looks += 1;
        try {
          const listed = await list(stop);
          if (begun.isValid) kept.set(server.id, key, { holderKey, listed, until: clock.now() + KEPT_MS });
          return listed;
        } finally {
          begun.looks -= 1;
          if (begun.looks === 0 && underWay.get(place) === begun) underWay.delete(place);
        }
      };
      return flights.run([place, begun.turn], look, { signal });
    },
    last(server, holderKey, method) {
      const key = keyOf(server, holderKey, method);
      // Those that are away are asked for here alone: they are not the first to go.
      kept.touch(server.id, key);
      return kept.get(server.id, key)?.listed;
    },
    expire(serverId, holderKey) {
      overtake(serverId, holderKey);
      kept.shorten(serverId, (listing) => (holderKey ?? listing.holderKey) === listing.holderKey);
    },
    invalidate(serverId, holderKey) {
      overtake(serverId, holderKey);
      kept.remove(serverId, (listing) => (holderKey ?? listing.holderKey) === listing.holderKey);
    },
  };
}

function isOf(begun: Begun, serverId: string, holderKey: string | undefined): boolean {
  return begun.serverId === serverId && (holderKey ?? begun.holderKey) === begun.holderKey;
}

function keyOf({ tenant, id, revision }: ServerSnapshot, holderKey: string, method: ListMethod): string {
  return JSON.stringify([tenant, id, revision, holderKey, method]);
}
