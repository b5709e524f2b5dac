import { type Cancel, type Clock, type Random, abortReason } from '@behalf/kernel';
import type { AppServer } from '../definitions/definition.ts';
import { type UpstreamTarget, ownedByApp } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { PoolParts, PoolState } from './connectionManager.ts';
import { type LeaseOptions, type SharedPool, createLease, revisionKey, tenantServerKey } from './lease.ts';
import { type Slot, type SlotTask, createSlot } from './slot.ts';

/*
 * One connection per revision of an app server, shared by all users.
 *
 * `lease` accepts an `AppServer` only and has no user parameter: a user's credential cannot reach a shared connection.
 */

/**
 * The current connection and one that was replaced but is still in use. The limits per user do not cover shared
 * connections: without this limit, a user with slow calls could replace the connection repeatedly and so open any number
 * of connections or child processes.
 */
const MAX_OPEN_PER_REVISION = 2;

export type SharedConnections = ReturnType<typeof createSharedPool>;

export function createSharedPool(parts: PoolParts & { readonly onFailure: (server: AppServer) => void }) {
  const { clock, limits, breakerGuard, openAndRecord, registry, activeRevisions, onFailure } = parts;
  const entries = new Map<string, { readonly server: AppServer; readonly slot: Slot }>();
  /** Connections that are not closed, by revision. A slot cannot count them: it is removed on retirement. */
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
    const slot = createSlot({ registry, onEmpty });
    entries.set(key, { server, slot });
    return slot;
  }

  function createSlotTask(server: AppServer, slot: Slot, forceNew: boolean): SlotTask {
    const isStillValid = activeRevisions.trackValidity(server);
    const key = revisionKey(server);
    return {
      beforeOpen() {
        const isFull = (openCounts.get(key) ?? 0) >= MAX_OPEN_PER_REVISION;
        if (forceNew && slot.connection && isFull) throw new UpstreamError('too_many');
      },
      async open(signal) {
        try {
          return await openAndRecord({ server, target: server.target, holder: undefined }, signal);
        } catch (error) {
          onFailure(server);
          throw error;
        }
      },
      adopt(upstream, onRetired) {
        adjustCount(key, 1);
        const connection = registry.add(upstream, { onRetired, onClosed: () => adjustCount(key, -1) });
        // If the definition changed while opening, the connection serves only the callers that wait for it.
        return { connection, cachedIn: isStillValid() ? 'slot' : 'none' };
      },
    };
  }

  const pool = {
    async lease(server: AppServer, options: LeaseOptions) {
      const { signal, forceNew = false, bypassesBreaker = false } = options;
      if (signal.aborted) throw abortReason(signal);
      registry.assertNotShutDown();
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
          onFailure: () => onFailure(server),
        });
      } catch (error) {
        // If this caller aborted, opening continues. It remains the only probe until it ends.
        if (permit) void slot.whenSettled().then(() => breakerGuard.release(request, permit));
        throw error;
      }
    },
    /** Retires the connections of definitions that are no longer active. */
    retireOutdated(): void {
      for (const [key, { server, slot }] of entries) {
        if (activeRevisions.isActive(server)) continue;
        entries.delete(key);
        void slot.retire();
      }
    },
    /** Closes idle connections of definitions that are not active. Connections of active definitions stay open. */
    sweep(): void {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const { server, slot } of entries.values()) {
        const { connection } = slot;
        if (!connection || connection.borrowerCount > 0 || connection.lastUsedAt > cutoff) continue;
        if (!activeRevisions.isActive(server)) void connection.retire();
      }
    },
    state(server: AppServer): PoolState {
      const slot = entries.get(revisionKey(server))?.slot;
      if (slot?.connection) return 'connected';
      return slot?.isOpening ? 'connecting' : undefined;
    },
    countBorrowers: (server: AppServer) =>
      entries.get(revisionKey(server))?.slot.connection?.borrowerCount ?? 0,
    get size() {
      let size = 0;
      for (const { slot } of entries.values()) if (slot.connection) size += 1;
      return size;
    },
  };
  return pool satisfies SharedPool;
}

/** The types exclude a bearer of a user. A wrong cast must not let all users act as this user. */
function assertNoUserBearer(target: UpstreamTarget): void {
  if (target.type === 'stdio' || !target.bearer) return;
  if (!(ownedByApp in target.bearer)) throw new UpstreamError('bearer_unsupported');
}

/** Spreads the probes of replicas that lost a server at the same time. */
const PROBE_JITTER = 0.1;
/** Used while another caller probes the server. */
const MIN_PROBE_DELAY_MS = 1_000;

/**
 * Probes app servers whose breaker is open, so that they recover without a failing user call. Servers of users are not
 * probed: a probe would use a credential in the absence of its owner.
 */
export function createRecoveryProbe(parts: {
  readonly clock: Clock;
  readonly random: Random;
  readonly isActive: (server: AppServer) => boolean;
  /** When the breaker admits a probe. Undefined if it is closed. */
  readonly getRetryAt: (server: AppServer) => number | undefined;
  /** Never rejects. */
  readonly probe: (server: AppServer) => Promise<void>;
}) {
  const { clock, random, isActive, getRetryAt, probe } = parts;
  const scheduled = new Map<string, { readonly server: AppServer; readonly cancel: Cancel }>();

  function remove(key: string): void {
    scheduled.get(key)?.cancel();
    scheduled.delete(key);
  }

  function schedule(key: string, server: AppServer): void {
    const retryAt = getRetryAt(server);
    if (retryAt === undefined || !isActive(server)) return remove(key);
    const delayMs = Math.max(retryAt - clock.now(), MIN_PROBE_DELAY_MS);
    const entry = {
      server,
      cancel: clock.timer(delayMs * (1 + PROBE_JITTER * random.uniform()), () => {
        void probe(server).then(() => {
          if (scheduled.get(key) === entry) schedule(key, server);
        });
      }),
    };
    scheduled.set(key, entry);
  }

  return {
    /** Probes a server until its breaker closes. */
    start(server: AppServer): void {
      const key = tenantServerKey(server);
      if (!scheduled.has(key)) schedule(key, server);
    },
    /** Stops probing servers whose definition is no longer active. */
    retireOutdated(): void {
      for (const [key, { server }] of scheduled) if (!isActive(server)) remove(key);
    },
    close(): void {
      for (const key of scheduled.keys()) remove(key);
    },
  };
}
