import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Connection } from './connection.ts';

/** Room for one connection, from the moment its opening begins until it is closed. */
export interface Place {
  fill(connection: Connection): void;
  /** Idempotent. */
  free(): void;
}

/** How many connections users may have. */
export interface Capacity {
  /** Makes room by closing the least recently used idle one, never one in use; throws `too_many` when there is none. */
  take(principal: string): Place;
  readonly filled: number;
}

interface Taken {
  readonly principal: string;
  connection: Connection | undefined;
}

export function createCapacity(limits: { readonly perPrincipal: number; readonly total: number }): Capacity {
  const places = new Set<Taken>();
  const byPrincipal = new Map<string, Set<Taken>>();

  function makeRoom(among: ReadonlySet<Taken>, limit: number): void {
    if (among.size < limit) return;
    const oldest = leastRecentlyUsed([...among].map(({ connection }) => connection));
    if (!oldest) throw new UpstreamError('too_many');
    void oldest.retire();
  }

  return {
    take(principal) {
      makeRoom(byPrincipal.get(principal) ?? new Set(), limits.perPrincipal);
      makeRoom(places, limits.total);
      const taken: Taken = { principal, connection: undefined };
      const own = byPrincipal.get(principal) ?? new Set();
      byPrincipal.set(principal, own.add(taken));
      places.add(taken);
      return {
        fill(connection) {
          taken.connection = connection;
        },
        free() {
          places.delete(taken);
          own.delete(taken);
          // A later set may have taken its place after this one became empty.
          if (own.size === 0 && byPrincipal.get(principal) === own) byPrincipal.delete(principal);
        },
      };
    },
    get filled() {
      let filled = 0;
      for (const { connection } of places) if (connection) filled += 1;
      return filled;
    },
  };
}

export function leastRecentlyUsed(connections: readonly (Connection | undefined)[]): Connection | undefined {
  let oldest: Connection | undefined;
  for (const connection of connections) {
    if (!connection || connection.borrowers > 0) continue;
    if (!oldest || connection.usedOrder < oldest.usedOrder) oldest = connection;
  }
  return oldest;
}
