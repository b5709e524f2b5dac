import { abortReason } from '@behalf/kernel';
import type { UserServer } from '../servers/definition.ts';
import type { ConnectionRequest } from './breakerGuard.ts';
import {
  type Connection,
  type ConnectionPermit,
  canBeStateless,
  createConnectionCapacity,
  isStateless,
} from './connection.ts';
import type { PoolParts, PoolState } from './connectionManager.ts';
import { type ConnectionHolder, type LeaseOptions, type UserPool, createLease } from './lease.ts';
import { tenantServerKey } from './revisions.ts';
import { type Slot, type SlotParts, type SlotTask, createSlot } from './slot.ts';
import { createSessionModeProbe, createStatelessConnections, statelessKey } from './statelessConnections.ts';

export interface UserConnections extends UserPool {
  retireOutdated(): void;
  sweep(): void;
  dropForServer(serverId: string, principal: string): Promise<void>;
  dropForPrincipal(principal: string): Promise<void>;
  state(server: UserServer, principal: string): PoolState;
  /** What single users have open, and how many requests use each. */
  listOwn(): Iterable<{
    readonly server: UserServer;
    readonly principal: string;
    readonly borrowerCount: number;
  }>;
  /** What is open and keeps no session. */
  listStateless(): Iterable<{ readonly server: UserServer; readonly borrowerCount: number }>;
  /** Sessions of users' own. */
  readonly size: number;
  readonly statelessSize: number;
}

/** Where a caller's connection may be found. */
interface ConnectionKeys {
  /** Undefined when the server cannot be one that keeps no session. */
  readonly sharedKey: string | undefined;
  readonly ownKey: string;
}

export function createUserPool(parts: PoolParts): UserConnections {
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
  const capacity = createConnectionCapacity(limits);
  const sessionModeProbe = createSessionModeProbe(clock, limits);
  const statelessPool = createStatelessConnections(parts);
  const slots = createUserSlots({ pendingConnections, closeTracker });

  let unnamedRequests = 0;

  function resolveKeys(server: UserServer, holder: ConnectionHolder): ConnectionKeys {
    const { target, principal, binding } = holder;
    // Without a request to belong to, a connection serves one lease alone. A number meets no request's name.
    const requestKey = server.requestScoped ? (holder.requestKey ?? (unnamedRequests += 1)) : null;
    return {
      sharedKey: canBeStateless(target) ? statelessKey(server, target) : undefined,
      // The principal is in it even where users share a binding, as with a stored server's static key: a session may
      // hold what its user did. Revision and binding are in it, so that no old definition or grant is found.
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
    return slot.lease(createSlotTask(request, sharedKey, options), signal, forceNew);
  }

  const waitForPending = async ({ ownKey }: ConnectionKeys) => slots.find(ownKey)?.whenSettled();

  function createSlotTask(
    request: UserConnectionRequest,
    sharedKey: string | undefined,
    options: LeaseOptions,
  ): SlotTask {
    const { server, target, holder } = request;
    const { forceNew = false } = options;
    const isStillValid = activeRevisions.trackValidity(server);
    let capacityPermit: ConnectionPermit | undefined;
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
          // It kept none before: what everybody had is of no use any more.
          void statelessPool.find(sharedKey)?.retire();
        }
        const heldPermit = capacityPermit;
        capacityPermit = undefined;
        const connection = connections.add(upstream, {
          onRetired,
          onClosed: () => heldPermit?.release(),
          isSingleUse: server.requestScoped,
        });
        heldPermit?.attach(connection);
        return { connection, cachedIn: isStillValid() ? 'slot' : 'none' };
      },
      onSettled() {
        capacityPermit?.release();
        finishProbe();
      },
    };
  }

  return {
    checkBreaker(server, holder) {
      breakerGuard.check({ server, target: holder.target, holder });
    },
    async lease(server, holder, options) {
      const { signal, forceNew = false, bypassesBreaker = false } = options;
      if (signal.aborted) throw abortReason(signal);
      pendingConnections.assertNotClosed();
      const request = { server, target: holder.target, holder };
      const permit = breakerGuard.admit(request, bypassesBreaker);
      const keys = resolveKeys(server, holder);
      try {
        const existing = forceNew ? undefined : borrowExisting(keys);
        const connection = existing ?? (await openAndBorrow(keys, request, options));
        return createLease(connection, { request, permit, breakerGuard, signal });
      } catch (error) {
        // The opening goes on without this caller, and until it ends it is the one probe.
        if (permit) void waitForPending(keys).then(() => breakerGuard.release(request, permit));
        throw error;
      }
    },
    retireOutdated() {
      void slots.retire([...slots.list()].filter(({ server }) => !activeRevisions.isActive(server)));
      statelessPool.retireOutdated();
    },
    sweep() {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const { slot } of slots.list()) {
        const { connection } = slot;
        if (connection?.borrowerCount === 0 && connection.lastUsedAt <= cutoff) void connection.retire();
      }
      statelessPool.sweep();
    },
    dropForServer: (serverId, principal) =>
      slots.retire(slots.findByPrincipal(principal).filter(({ server }) => server.id === serverId)),
    dropForPrincipal: (principal) => slots.retire(slots.findByPrincipal(principal)),
    state(server, principal) {
      if (statelessPool.has(server)) return 'connected';
      const key = tenantServerKey(server);
      const matching = slots
        .findByPrincipal(principal)
        .filter((slot) => tenantServerKey(slot.server) === key && slot.server.revision === server.revision);
      if (matching.some(({ slot }) => slot.connection)) return 'connected';
      return matching.length > 0 ? 'connecting' : undefined;
    },
    *listOwn() {
      for (const { server, principal, slot } of slots.list()) {
        const { connection } = slot;
        if (connection) yield { server, principal, borrowerCount: connection.borrowerCount };
      }
    },
    *listStateless() {
      for (const { server, connection } of statelessPool.list())
        yield { server, borrowerCount: connection.borrowerCount };
    },
    get size() {
      return capacity.connectedCount;
    },
    get statelessSize() {
      return statelessPool.size;
    },
  };
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

/** The places of users' own connections, by key and by principal. */
interface UserSlots {
  find(key: string): Slot | undefined;
  /** The place with this key. The principal's other places at this server are given up: their binding is an old one. */
  getOrCreate(key: string, server: UserServer, principal: string): Slot;
  /** Gives up places; resolves when what nobody uses is closed. */
  retire(entries: readonly UserSlot[]): Promise<void>;
  findByPrincipal(principal: string): readonly UserSlot[];
  list(): Iterable<UserSlot>;
}

function createUserSlots(parts: Pick<SlotParts, 'pendingConnections' | 'closeTracker'>): UserSlots {
  const byKey = new Map<string, UserSlot>();
  const byPrincipal = new Map<string, Set<UserSlot>>();

  function remove(entry: UserSlot): void {
    if (byKey.get(entry.key) !== entry) return;
    byKey.delete(entry.key);
    const ofPrincipal = byPrincipal.get(entry.principal);
    ofPrincipal?.delete(entry);
    if (ofPrincipal?.size === 0) byPrincipal.delete(entry.principal);
  }

  const findByPrincipal = (principal: string) => [...(byPrincipal.get(principal) ?? [])];

  async function retire(entries: readonly UserSlot[]): Promise<void> {
    entries.forEach(remove);
    await Promise.all(entries.map(({ slot }) => slot.retire()));
  }

  return {
    find: (key) => byKey.get(key)?.slot,
    getOrCreate(key, server, principal) {
      const existing = byKey.get(key);
      if (existing) return existing.slot;
      if (!server.requestScoped) {
        const targetServer = tenantServerKey(server);
        void retire(
          findByPrincipal(principal).filter((other) => tenantServerKey(other.server) === targetServer),
        );
      }
      const slot = createSlot({ ...parts, onEmpty: () => remove(entry) });
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
