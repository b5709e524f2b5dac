import { abortReason } from '@behalf/kernel';
import type { AppServer } from '../registry/server.ts';
import { ownedByApp, type UpstreamTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { SharedPool } from './lease.ts';
import { leaseOf } from './leaseOf.ts';
import type { PoolParts, PoolState } from './poolParts.ts';
import { revisionKey } from './serverKey.ts';
import { createSlot, type Slot, type SlotWork } from './slot.ts';

export interface SharedConnections extends SharedPool {
  /** The definitions changed. */
  retireOutdated(): void;
  /** Closes idle ones of servers that nobody announced; the others stay. */
  sweep(): void;
  state(server: AppServer): PoolState;
  /** How many use its connection now. */
  borrowers(server: AppServer): number;
  readonly size: number;
}

export interface SharedPoolParts extends PoolParts {
  /** Something went wrong on the way to this server. */
  readonly onFailure: (server: AppServer) => void;
}

interface Entry {
  readonly server: AppServer;
  readonly slot: Slot;
}

/**
 * The one that is there, and one that was replaced. Nobody in particular pays for a shared connection: without a limit
 * one user with a slow call could have any number of them, each a child process perhaps, by replacing it over and over.
 */
const MOST_OPEN = 2;

/** One connection per revision of an app server. */
export function createSharedPool(parts: SharedPoolParts): SharedConnections {
  const { clock, limits, gate, attempt, openings, closings, connections, current } = parts;
  const entries = new Map<string, Entry>();
  /** How many of a revision are not closed. Not in its slot, which goes when the connection that is there ends. */
  const open = new Map<string, number>();

  function count(key: string, more: 1 | -1): void {
    const number = (open.get(key) ?? 0) + more;
    if (number > 0) open.set(key, number);
    else open.delete(key);
  }

  function slotOf(server: AppServer): Slot {
    const key = revisionKey(server);
    const known = entries.get(key);
    if (known) return known.slot;
    const onEmpty = () => {
      if (entries.get(key)?.slot === slot) entries.delete(key);
    };
    const slot = createSlot({ openings, closings, onEmpty });
    entries.set(key, { server, slot });
    return slot;
  }

  const workFor = (server: AppServer, slot: Slot, forceNew: boolean): SlotWork => {
    const stillHolds = current.follow(server);
    const key = revisionKey(server);
    return {
      begin() {
        if (forceNew && slot.connection && (open.get(key) ?? 0) >= MOST_OPEN) {
          throw new UpstreamError('too_many');
        }
      },
      async open(signal) {
        try {
          return await attempt({ server, target: server.target, holder: undefined }, signal);
        } catch (error) {
          parts.onFailure(server);
          throw error;
        }
      },
      adopt(upstream, onRetired) {
        count(key, 1);
        const connection = connections.add(upstream, { onRetired, onClosed: () => count(key, -1) });
        // The definition may have changed while this was opening: then it serves who waits for it, and nobody else.
        return { connection, kept: stillHolds() ? 'here' : 'nowhere' };
      },
    };
  };

  return {
    async lease(server, options) {
      const { signal, forceNew = false, explicit = false } = options;
      if (signal.aborted) throw abortReason(signal);
      openings.assertAllowed();
      refuseBearer(server.target);
      const passage = { server, target: server.target, holder: undefined };
      const pass = gate.enter(passage, explicit);
      const slot = slotOf(server);
      try {
        let connection = forceNew ? undefined : slot.connection;
        if (connection) connection.borrow();
        else connection = await slot.lease(workFor(server, slot, forceNew), signal, forceNew);
        return leaseOf(connection, { passage, pass, gate, signal, onFailure: () => parts.onFailure(server) });
      } catch (error) {
        // The opening goes on without this caller, and until it ends it is the one probe.
        if (pass) void slot.settled().then(() => gate.leave(passage, pass));
        throw error;
      }
    },
    retireOutdated() {
      for (const [key, { server, slot }] of entries) {
        if (current.holds(server)) continue;
        entries.delete(key);
        void slot.retire();
      }
    },
    sweep() {
      const old = clock.now() - limits.idleMs;
      for (const { server, slot } of entries.values()) {
        const { connection } = slot;
        if (!connection || connection.borrowers > 0 || connection.usedAt > old) continue;
        if (!current.holds(server)) void connection.retire();
      }
    },
    state(server) {
      const slot = entries.get(revisionKey(server))?.slot;
      if (slot?.connection) return 'connected';
      return slot?.opening ? 'connecting' : undefined;
    },
    borrowers: (server) => entries.get(revisionKey(server))?.slot.connection?.borrowers ?? 0,
    get size() {
      let size = 0;
      for (const { slot } of entries.values()) if (slot.connection) size += 1;
      return size;
    },
  };
}

/** The types leave no place for one. Whoever got around them must not have everybody act as one user. */
function refuseBearer(target: UpstreamTarget): void {
  if (target.type === 'stdio' || !target.bearer) return;
  if (!(ownedByApp in target.bearer)) throw new UpstreamError('bearer_unsupported');
}
