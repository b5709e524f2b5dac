import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Connection } from './connection.ts';

/** Room for one connection, from the moment its opening begins until it is closed. */
export interface ConnectionPermit {
  attach(connection: Connection): void;
  /** Idempotent. */
  release(): void;
}

/** How many connections users may have. */
export interface ConnectionCapacity {
  /** Makes room by closing the least recently used idle one, never one in use; throws `too_many` when there is none. */
  acquire(principal: string): ConnectionPermit;
  readonly connectedCount: number;
}

interface Reservation {
  readonly principal: string;
  connection: Connection | undefined;
}

export function createConnectionCapacity(limits: {
  readonly maxPerPrincipal: number;
  readonly maxTotal: number;
}): ConnectionCapacity {
  const reservations = new Set<Reservation>();
  const byPrincipal = new Map<string, Set<Reservation>>();

  function evictIfFull(group: ReadonlySet<Reservation>, limit: number): void {
    if (group.size < limit) return;
    const oldest = findLeastRecentlyUsed([...group].map(({ connection }) => connection));
    if (!oldest) throw new UpstreamError('too_many');
    void oldest.retire();
  }

  return {
    acquire(principal) {
      evictIfFull(byPrincipal.get(principal) ?? new Set(), limits.maxPerPrincipal);
      evictIfFull(reservations, limits.maxTotal);
      const reservation: Reservation = { principal, connection: undefined };
      const principalReservations = byPrincipal.get(principal) ?? new Set();
      byPrincipal.set(principal, principalReservations.add(reservation));
      reservations.add(reservation);
      return {
        attach(connection) {
          reservation.connection = connection;
        },
        release() {
          reservations.delete(reservation);
          principalReservations.delete(reservation);
          // A later set may have taken its place after this one became empty.
          if (principalReservations.size === 0 && byPrincipal.get(principal) === principalReservations)
            byPrincipal.delete(principal);
        },
      };
    },
    get connectedCount() {
      let count = 0;
      for (const { connection } of reservations) if (connection) count += 1;
      return count;
    },
  };
}

export function findLeastRecentlyUsed(
  connections: readonly (Connection | undefined)[],
): Connection | undefined {
  let oldest: Connection | undefined;
  for (const connection of connections) {
    if (!connection || connection.borrowerCount > 0) continue;
    if (!oldest || connection.lastUsedOrder < oldest.lastUsedOrder) oldest = connection;
  }
  return oldest;
}
