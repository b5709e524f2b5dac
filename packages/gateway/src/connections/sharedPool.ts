import { type Cancel, type Clock, type Random, abortReason } from '@behalf/kernel';
import type { AppServer } from '../servers/definition.ts';
import { type UpstreamTarget, ownedByApp } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { PoolParts, PoolState } from './connectionManager.ts';
import { type SharedPool, createLease } from './lease.ts';
import { revisionKey, tenantServerKey } from './revisions.ts';
import { type Slot, type SlotTask, createSlot } from './slot.ts';

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

interface SharedPoolParts extends PoolParts {
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

/**
 * Tries parked servers that everybody shares by itself, so that they come back without anybody's call being the one
 * that finds out. A user's server is not tried: that would use a credential while its owner is away.
 */
interface RecoveryProbe {
  /** Watches a server whose breaker is open, until it closes. */
  start(server: AppServer): void;
  /** Forgets servers whose definition does not hold any more. */
  retireOutdated(): void;
  close(): void;
}

interface RecoveryProbeParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly isActive: (server: AppServer) => boolean;
  /** When the server may be tried again; undefined when nothing is wrong with it. */
  readonly getRetryAt: (server: AppServer) => number | undefined;
  /** Never rejects. */
  readonly probe: (server: AppServer) => Promise<void>;
}

/** Gateways that lost a server together do not come back to it together. */
const RECOVERY_JITTER = 0.1;
/** When somebody else's probe is under way. */
const MIN_RECOVERY_DELAY_MS = 1_000;

export function createRecoveryProbe(parts: RecoveryProbeParts): RecoveryProbe {
  const { clock, random, isActive, getRetryAt, probe } = parts;
  const scheduled = new Map<string, { readonly server: AppServer; cancel: Cancel }>();

  function remove(key: string): void {
    scheduled.get(key)?.cancel();
    scheduled.delete(key);
  }

  function schedule(key: string, server: AppServer): void {
    const retryAt = getRetryAt(server);
    if (retryAt === undefined || !isActive(server)) return remove(key);
    const delayMs = Math.max(retryAt - clock.now(), MIN_RECOVERY_DELAY_MS);
    const entry = {
      server,
      cancel: clock.timer(delayMs * (1 + RECOVERY_JITTER * random.uniform()), () => {
        void probe(server).then(() => {
          if (scheduled.get(key) === entry) schedule(key, server);
        });
      }),
    };
    scheduled.set(key, entry);
  }

  return {
    start(server) {
      const key = tenantServerKey(server);
      if (!scheduled.has(key)) schedule(key, server);
    },
    retireOutdated() {
      for (const [key, { server }] of scheduled) if (!isActive(server)) remove(key);
    },
    close() {
      for (const key of scheduled.keys()) remove(key);
    },
  };
}
