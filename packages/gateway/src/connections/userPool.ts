import { abortReason } from '@behalf/kernel';
import type { UserServer } from '../definitions/definition.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import {
  type Connection,
  type ConnectionRegistry,
  canBeStateless,
  findLeastRecentlyUsed,
  isStateless,
} from './connection.ts';
import type { ConnectionLimits, PoolParts, PoolState } from './connectionManager.ts';
import {
  type ConnectionHolder,
  type ConnectionRequest,
  type LeaseOptions,
  type UserPool,
  createLease,
  tenantServerKey,
} from './lease.ts';
import { type Slot, type SlotTask, createSlot } from './slot.ts';
import { createSessionModeProbe, createStatelessConnections, statelessKey } from './statelessConnections.ts';

/*
 * Connections of user-scoped servers.
 *
 * - The key of a session contains the principal, so no two users ever share a session.
 * - Sessions are limited per principal and in total, close when idle, and are evicted least recently used first.
 *   A connection in use is never evicted.
 * - Stateless servers have one connection for all users (statelessConnections.ts).
 */

/** Where the connection of a caller may be cached. */
interface ConnectionKeys {
  /** Undefined if the transport of the server is always stateful. */
  readonly sharedKey: string | undefined;
  readonly ownKey: string;
}

export type UserConnections = ReturnType<typeof createUserPool>;

export function createUserPool(parts: PoolParts) {
  const { clock, limits, breakerGuard, openAndRecord, registry, activeRevisions } = parts;
  const capacity = createConnectionCapacity(limits);
  const sessionModeProbe = createSessionModeProbe(clock, limits);
  const statelessPool = createStatelessConnections(parts);
  const slots = createUserSlots(registry);

  let unnamedRequests = 0;

  function resolveKeys(server: UserServer, holder: ConnectionHolder): ConnectionKeys {
    const { target, principal, binding } = holder;
    // Without a request key the connection serves a single lease. A number cannot equal a request key, which is a string.
    const requestKey = server.requestScoped ? (holder.requestKey ?? (unnamedRequests += 1)) : null;
    return {
      sharedKey: canBeStateless(target) ? statelessKey(server, target) : undefined,
      // Contains the principal even if users share a binding (a static key), because a session can hold user data.
      // Contains revision and binding, so that a changed definition or grant never finds an old session.
      ownKey: JSON.stringify([server.tenant, server.id, server.revision, principal, binding, requestKey]),
    };
  }

  function borrowExisting({ sharedKey, ownKey }: ConnectionKeys): Connection | undefined {
    const connection =
      (sharedKey === undefined ? undefined : statelessPool.find(sharedKey)) ?? slots.find(ownKey)?.connection;
    connection?.borrow();
    return connection;
  }

  async function openAndBorrow(
    keys: ConnectionKeys,
    request: UserConnectionRequest,
    options: LeaseOptions,
  ): Promise<Connection> {
    const { server, holder } = request;
    const { signal, forceNew = false } = options;
    const { sharedKey, ownKey } = keys;
    if (
      !forceNew &&
      sharedKey !== undefined &&
      sessionModeProbe.isRunning(sharedKey) &&
      !slots.find(ownKey)
    ) {
      await sessionModeProbe.waitForResult(sharedKey, signal);
      const found = borrowExisting(keys);
      if (found) return found;
    }
    const slot = slots.getOrCreate(ownKey, server, holder.principal);
    return slot.lease(createSlotTask(request, sharedKey, forceNew), signal, forceNew);
  }

  const waitForPending = async ({ ownKey }: ConnectionKeys) => slots.find(ownKey)?.whenSettled();

  function createSlotTask(
    request: UserConnectionRequest,
    sharedKey: string | undefined,
    forceNew: boolean,
  ): SlotTask {
    const { server, target, holder } = request;
    const isStillValid = activeRevisions.trackValidity(server);
    let capacityPermit: CapacityPermit | undefined;
    let finishProbe: () => void = () => undefined;
    return {
      beforeOpen() {
        capacityPermit = capacity.acquire(holder.principal);
        if (sharedKey !== undefined) finishProbe = sessionModeProbe.start(sharedKey);
      },
      open: (signal) => openAndRecord(request, signal),
      adopt(upstream, onRetired) {
        if (sharedKey !== undefined) {
          if (isStateless(target, upstream.claims)) {
            return statelessPool.adopt(sharedKey, server, upstream, {
              shouldReplace: forceNew,
              shouldCache: isStillValid(),
            });
          }
          sessionModeProbe.markSessionBased(sharedKey);
          // The server was stateless before. Its shared connection no longer works.
          void statelessPool.find(sharedKey)?.retire();
        }
        const heldPermit = capacityPermit;
        capacityPermit = undefined;
        const connection = registry.add(upstream, {
          onRetired,
          onClosed: () => heldPermit?.release(),
          isSingleUse: server.requestScoped,
        });
        if (heldPermit) heldPermit.connection = connection;
        return { connection, cachedIn: isStillValid() ? 'slot' : 'none' };
      },
      onSettled() {
        capacityPermit?.release();
        finishProbe();
      },
    };
  }

  const pool = {
    checkBreaker(server: UserServer, holder: ConnectionHolder): void {
      breakerGuard.check({ server, target: holder.target, holder });
    },
    async lease(server: UserServer, holder: ConnectionHolder, options: LeaseOptions) {
      const { signal, forceNew = false, bypassesBreaker = false } = options;
      if (signal.aborted) throw abortReason(signal);
      registry.assertNotShutDown();
      const request = { server, target: holder.target, holder };
      const permit = breakerGuard.admit(request, bypassesBreaker);
      const keys = resolveKeys(server, holder);
      try {
        const existing = forceNew ? undefined : borrowExisting(keys);
        const connection = existing ?? (await openAndBorrow(keys, request, options));
        return createLease(connection, { request, permit, breakerGuard, signal });
      } catch (error) {
        // If this caller aborted, opening continues. It remains the only probe until it ends.
        if (permit) void waitForPending(keys).then(() => breakerGuard.release(request, permit));
        throw error;
      }
    },
    /** Retires the connections of definitions that are no longer active. */
    retireOutdated(): void {
      void slots.retire([...slots.list()].filter(({ server }) => !activeRevisions.isActive(server)));
      statelessPool.retireOutdated();
    },
    /** Closes idle connections. */
    sweep(): void {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const { slot } of slots.list()) {
        const { connection } = slot;
        if (connection?.borrowerCount === 0 && connection.lastUsedAt <= cutoff) void connection.retire();
      }
      statelessPool.sweep();
    },
    dropForServer: (serverId: string, principal: string) =>
      slots.retire(slots.findByPrincipal(principal).filter(({ server }) => server.id === serverId)),
    dropForPrincipal: (principal: string) => slots.retire(slots.findByPrincipal(principal)),
    state(server: UserServer, principal: string): PoolState {
      if (statelessPool.has(server)) return 'connected';
      const key = tenantServerKey(server);
      const matching = slots
        .findByPrincipal(principal)
        .filter((slot) => tenantServerKey(slot.server) === key && slot.server.revision === server.revision);
      if (matching.some(({ slot }) => slot.connection)) return 'connected';
      return matching.length > 0 ? 'connecting' : undefined;
    },
    /** Sessions of single users. */
    *listOwn() {
      for (const { server, principal, slot } of slots.list()) {
        const { connection } = slot;
        if (connection) yield { server, principal, borrowerCount: connection.borrowerCount };
      }
    },
    listStateless: () => statelessPool.list(),
    /** Number of sessions. Stateless connections are counted separately. */
    get size() {
      return capacity.connectedCount;
    },
    get statelessSize() {
      return statelessPool.size;
    },
  };
  return pool satisfies UserPool;
}

interface UserConnectionRequest extends ConnectionRequest {
  readonly server: UserServer;
  readonly holder: ConnectionHolder;
}

interface UserSlot {
  readonly key: string;
  readonly server: UserServer;
  readonly principal: string;
  readonly slot: Slot;
}

/** The slots of user sessions, by key and by principal. */
function createUserSlots(registry: ConnectionRegistry) {
  const byKey = new Map<string, UserSlot>();
  const byPrincipal = new Map<string, Set<UserSlot>>();

  function remove(entry: UserSlot): void {
    if (byKey.get(entry.key) !== entry) return;
    byKey.delete(entry.key);
    const ofPrincipal = byPrincipal.get(entry.principal);
    ofPrincipal?.delete(entry);
    if (ofPrincipal?.size === 0) byPrincipal.delete(entry.principal);
  }

  const findByPrincipal = (principal: string): readonly UserSlot[] => [...(byPrincipal.get(principal) ?? [])];

  /** Removes the slots. Resolves when their unused connections are closed. */
  async function retire(entries: readonly UserSlot[]): Promise<void> {
    entries.forEach(remove);
    await Promise.all(entries.map(({ slot }) => slot.retire()));
  }

  return {
    find: (key: string) => byKey.get(key)?.slot,
    /** A new slot retires the principal's other slots of the same server: they have an outdated revision or binding. */
    getOrCreate(key: string, server: UserServer, principal: string): Slot {
      const existing = byKey.get(key);
      if (existing) return existing.slot;
      if (!server.requestScoped) {
        const targetServer = tenantServerKey(server);
        void retire(
          findByPrincipal(principal).filter((other) => tenantServerKey(other.server) === targetServer),
        );
      }
      const slot = createSlot({ registry, onEmpty: () => remove(entry) });
      const entry: UserSlot = { key, server, principal, slot };
      byKey.set(key, entry);
      byPrincipal.set(principal, (byPrincipal.get(principal) ?? new Set()).add(entry));
      return slot;
    },
    retire,
    findByPrincipal,
    list: () => byKey.values(),
  };
}

/** Reserves capacity for one connection, from the start of opening until it is closed. */
interface CapacityPermit {
  connection: Connection | undefined;
  /** Idempotent. */
  release(): void;
}

function createConnectionCapacity({ maxPerPrincipal, maxTotal }: ConnectionLimits) {
  const permits = new Set<CapacityPermit>();
  const byPrincipal = new Map<string, Set<CapacityPermit>>();

  function evictIfFull(group: ReadonlySet<CapacityPermit>, limit: number): void {
    if (group.size < limit) return;
    const oldest = findLeastRecentlyUsed([...group].map(({ connection }) => connection));
    if (!oldest) throw new UpstreamError('too_many');
    void oldest.retire();
  }

  return {
    /** Evicts the least recently used idle connection if a limit is reached. Throws `too_many` if all are in use. */
    acquire(principal: string): CapacityPermit {
      evictIfFull(byPrincipal.get(principal) ?? new Set(), maxPerPrincipal);
      evictIfFull(permits, maxTotal);
      // Read again: an eviction can have removed the set of this principal.
      const ofPrincipal = byPrincipal.get(principal) ?? new Set();
      const permit: CapacityPermit = {
        connection: undefined,
        release() {
          permits.delete(permit);
          ofPrincipal.delete(permit);
          // After this set became empty, a new set may have replaced it.
          if (ofPrincipal.size === 0 && byPrincipal.get(principal) === ofPrincipal)
            byPrincipal.delete(principal);
        },
      };
      byPrincipal.set(principal, ofPrincipal.add(permit));
      permits.add(permit);
      return permit;
    },
    get connectedCount() {
      let count = 0;
      for (const { connection } of permits) if (connection) count += 1;
      return count;
    },
  };
}
