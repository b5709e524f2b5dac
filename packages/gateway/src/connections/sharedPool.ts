import { abortReason } from '@behalf/kernel';
import type { AppServer } from '../registry/server.ts';
import { ownedByApp, type UpstreamTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { SharedPool } from './lease.ts';
import { createLease } from './createLease.ts';
import type { PoolParts, PoolState } from './poolParts.ts';
import { revisionKey } from './connectionKeys.ts';
import { createSlot, type Slot, type SlotTask } from './slot.ts';

export interface SharedConnections extends SharedPool {
  /** The definitions changed. */
  retireOutdated(): void;
  /** Closes idle ones of servers that nobody announced; the others stay. */
  sweep(): void;
  state(server: AppServer): PoolState;
  /** How many use its connection now. */
  countBorrowers(server: AppServer): number;
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
const MAX_OPEN = 2;

/** One connection per revision of an app server. */
export function createSharedPool(parts: SharedPoolParts): SharedConnections {
  const {
    clock,
    limits,
    breakerGuard,
    openAndRecord,
    pendingConnections,
    closeTracker,
    connections,
    activeRevisions,
  } = parts;
  const entries = new Map<string, Entry>();
  /** How many of a revision are not closed. Not in its slot, which goes when the connection that is there ends. */
  const openCounts = new Map<string, number>();

  function adjustCount(key: string, delta: 1 | -1): void {
    const updated = (openCounts.get(key) ?? 0) + delta;
    if (updated > 0) openCounts.set(key, updated);
    else openCounts.delete(key);
  }

  function getSlot(server: AppServer): Slot {
    const key = revisionKey(server);
    const existing = entries.get(key);
    if (existing) return existing.slot;
    const onEmpty = () => {
      if (entries.get(key)?.slot === slot) entries.delete(key);
    };
    const slot = createSlot({ pendingConnections, closeTracker, onEmpty });
    entries.set(key, { server, slot });
    return slot;
  }

  const createSlotTask = (server: AppServer, slot: Slot, forceNew: boolean): SlotTask => {
    const isStillValid = activeRevisions.trackValidity(server);
    const key = revisionKey(server);
    return {
      beforeOpen() {
        if (forceNew && slot.connection && (openCounts.get(key) ?? 0) >= MAX_OPEN) {
          throw new UpstreamError('too_many');
        }
      },
      async open(signal) {
        try {
          return await openAndRecord({ server, target: server.target, holder: undefined }, signal);
        } catch (error) {
          parts.onFailure(server);
          throw error;
        }
      },
      adopt(upstream, onRetired) {
        adjustCount(key, 1);
        const connection = connections.add(upstream, { onRetired, onClosed: () => adjustCount(key, -1) });
        // The definition may have changed while this was opening: then it serves who waits for it, and nobody else.
        return { connection, cachedIn: isStillValid() ? 'slot' : 'none' };
      },
    };
  };

  return {
    async lease(server, options) {
      const { signal, forceNew = false, bypassesBreaker = false } = options;
      if (signal.aborted) throw abortReason(signal);
      pendingConnections.assertNotClosed();
      assertNoUserBearer(server.target);
      const request = { server, target: server.target, holder: undefined };
      const permit = breakerGuard.admit(request, bypassesBreaker);
      const slot = getSlot(server);
      try {
        let connection = forceNew ? undefined : slot.connection;
        if (connection) connection.borrow();
        else connection = await slot.lease(createSlotTask(server, slot, forceNew), signal, forceNew);
        return createLease(connection, {
          request,
          permit,
          breakerGuard,
          signal,
          onFailure: () => parts.onFailure(server),
        });
      } catch (error) {
        // The opening goes on without this caller, and until it ends it is the one probe.
        if (permit) void slot.whenSettled().then(() => breakerGuard.release(request, permit));
        throw error;
      }
    },
    retireOutdated() {
      for (const [key, { server, slot }] of entries) {
        if (activeRevisions.isActive(server)) continue;
        entries.delete(key);
        void slot.retire();
      }
    },
    sweep() {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const { server, slot } of entries.values()) {
        const { connection } = slot;
        if (!connection || connection.borrowerCount > 0 || connection.lastUsedAt > cutoff) continue;
        if (!activeRevisions.isActive(server)) void connection.retire();
      }
    },
    state(server) {
      const slot = entries.get(revisionKey(server))?.slot;
      if (slot?.connection) return 'connected';
      return slot?.isOpening ? 'connecting' : undefined;
    },
    countBorrowers: (server) => entries.get(revisionKey(server))?.slot.connection?.borrowerCount ?? 0,
    get size() {
      let size = 0;
      for (const { slot } of entries.values()) if (slot.connection) size += 1;
      return size;
    },
  };
}

/** The types leave no place for one. Whoever got around them must not have everybody act as one user. */
function assertNoUserBearer(target: UpstreamTarget): void {
  if (target.type === 'stdio' || !target.bearer) return;
  if (!(ownedByApp in target.bearer)) throw new UpstreamError('bearer_unsupported');
}
