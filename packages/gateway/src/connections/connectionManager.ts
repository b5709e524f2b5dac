import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { AppServer, ServerSnapshot } from '../definitions/definition.ts';
import { type BreakerGuard, createBreakerGuard } from './breakers.ts';
import {
  type ConnectionRegistry,
  type OpenAndRecord,
  type OpenConnection,
  createConnectionRegistry,
  createOpenAndRecord,
} from './connection.ts';
import { type SharedPool, type UserPool, revisionKey, tenantServerKey } from './lease.ts';
import { createRecoveryProbe, createSharedPool } from './sharedPool.ts';
import { type ConnectionState, type DescribeConnections, createConnectionStatus } from './status.ts';
import { createUserPool } from './userPool.ts';

export type { ConnectionHolder, Lease, LeaseOptions, SharedPool, UserPool } from './lease.ts';
export type { ConnectionState, ServerConnections } from './status.ts';

export interface ConnectionLimits {
  /** Unused connections of users close after this time. */
  readonly idleTimeoutMs: number;
  /** Interval of the check for idle connections and outdated breakers. */
  readonly sweepIntervalMs: number;
  /** Sessions per principal. */
  readonly maxPerPrincipal: number;
  /** Sessions of all users together. The same limit applies separately to stateless connections. */
  readonly maxTotal: number;
  readonly closeTimeoutMs: number;
  /** How long a user waits for another user's probe, which may find that the server is stateless. */
  readonly probeWaitMs: number;
  /** Consecutive failures that open a breaker. */
  readonly breakerThreshold: number;
  readonly breakerBaseMs: number;
  readonly breakerMaxMs: number;
  /** Maximum number of breakers and of recorded failures. The oldest is evicted first. */
  readonly maxEntries: number;
}

const defaultConnectionLimits: ConnectionLimits = {
  idleTimeoutMs: 15 * 60_000,
  sweepIntervalMs: 30_000,
  maxPerPrincipal: 32,
  maxTotal: 2_000,
  closeTimeoutMs: 5_000,
  probeWaitMs: 2_000,
  breakerThreshold: 3,
  breakerBaseMs: 30_000,
  breakerMaxMs: 300_000,
  maxEntries: 10_000,
};

/** Dependencies that both pools share. */
export interface PoolParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly breakerGuard: BreakerGuard;
  readonly openAndRecord: OpenAndRecord;
  readonly registry: ConnectionRegistry;
  readonly activeRevisions: ActiveRevisions;
}

/** State of a server in a pool. Undefined if the pool has no connection to it. */
export type PoolState = 'connected' | 'connecting' | undefined;

/** Owns all connections to MCP servers. */
export interface ConnectionManager {
  readonly shared: SharedPool;
  readonly user: UserPool;
  /** Replaces the set of active definitions. Connections of other definitions finish their calls and close. */
  update(servers: readonly ServerSnapshot[]): void;
  /** Drops a principal's sessions of one server. Resolves when the unused ones are closed. */
  dropForServer(serverId: string, principal: string): Promise<void>;
  /** Drops a principal's sessions of all servers, for example on logout. */
  dropForPrincipal(principal: string): Promise<void>;
  /**
   * Notifies of both kinds of drop, even if no connection was open. Listeners discard what they present elsewhere for
   * this principal. Returns a function that removes the listener.
   */
  onConnectionsDropped(listener: (principal: string, serverId: string | undefined) => void): () => void;
  /** The state of a server for one principal. A stateless server is `connected` for all users or for none. */
  state(server: ServerSnapshot, principal: string): ConnectionState;
  counts(): {
    readonly shared: number;
    readonly user: number;
    readonly stateless: number;
    readonly breakersOpen: number;
  };
  /** Summarizes connections and failures of servers. Has no side effects. */
  readonly describe: DescribeConnections;
  /** Closes everything, including connections in use and connections that are being opened. Idempotent. */
  close(): Promise<void>;
}

export function createConnectionManager(parts: {
  readonly open: OpenConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<ConnectionLimits>;
}): ConnectionManager {
  const { open, clock, random } = parts;
  const limits = { ...defaultConnectionLimits, ...parts.limits };
  const breakerGuard = createBreakerGuard(clock, limits);
  const { transport, credential } = breakerGuard;
  const registry = createConnectionRegistry(clock, limits.closeTimeoutMs);
  const activeRevisions = createActiveRevisions();
  const openAndRecord = createOpenAndRecord({ open, clock, random, breakerGuard });
  const poolParts: PoolParts = { clock, limits, breakerGuard, openAndRecord, registry, activeRevisions };
  const shutdown = new AbortController();

  const shared = createSharedPool({ ...poolParts, onFailure: (server) => recoveryProbe.start(server) });
  const user = createUserPool(poolParts);
  const recoveryProbe = createRecoveryProbe({
    clock,
    random,
    isActive: (server) => activeRevisions.isActive(server),
    getRetryAt: (server) => transport.findOpen(revisionKey(server), undefined)?.retryAt,
    probe: probeShared,
  });

  /** Opens a new connection, because the current one may be the one that is broken. */
  async function probeShared(server: AppServer): Promise<void> {
    await shared.lease(server, { signal: shutdown.signal, forceNew: true }).then(
      (lease) => lease.release(),
      () => undefined,
    );
  }

  let cancelSweep: Cancel = () => undefined;
  function scheduleSweep(): void {
    cancelSweep = clock.timer(limits.sweepIntervalMs, () => {
      for (const part of [shared, user, breakerGuard]) part.sweep();
      scheduleSweep();
    });
  }
  scheduleSweep();

  async function closeAll(): Promise<void> {
    cancelSweep();
    recoveryProbe.close();
    shutdown.abort();
    await registry.close();
  }
  let closing: Promise<void> | undefined;
  const dropListeners = new Set<(principal: string, serverId: string | undefined) => void>();

  return {
    shared,
    user,
    update(servers) {
      activeRevisions.replace(servers);
      for (const part of [shared, user, recoveryProbe]) part.retireOutdated();
    },
    dropForServer(serverId, principal) {
      for (const notify of dropListeners) notify(principal, serverId);
      return user.dropForServer(serverId, principal);
    },
    dropForPrincipal(principal) {
      for (const notify of dropListeners) notify(principal, undefined);
      return user.dropForPrincipal(principal);
    },
    onConnectionsDropped(listener) {
      dropListeners.add(listener);
      return () => void dropListeners.delete(listener);
    },
    ...createConnectionStatus({ shared, user, breakerGuard }),
    counts: () => ({
      shared: shared.size,
      user: user.size,
      stateless: user.statelessSize,
      breakersOpen: transport.openCount + credential.openCount,
    }),
    close: () => (closing ??= closeAll()),
  };
}

type ActiveRevisions = ReturnType<typeof createActiveRevisions>;

/** The definitions that are currently active. */
function createActiveRevisions() {
  let revisions = new Map<string, Set<string>>();
  // Includes the scope, so that a server that stops being shared loses its shared connection even at the same revision.
  const toScopedRevision = ({ scope, revision }: ServerSnapshot) => JSON.stringify([scope, revision]);
  const isActive = (server: ServerSnapshot) =>
    revisions.get(tenantServerKey(server))?.has(toScopedRevision(server)) === true;

  return {
    replace(servers: readonly ServerSnapshot[]): void {
      revisions = new Map();
      for (const server of servers) {
        const key = tenantServerKey(server);
        revisions.set(key, (revisions.get(key) ?? new Set()).add(toScopedRevision(server)));
      }
    },
    isActive,
    /**
     * Returns a function that tells later whether a connection opened now may be cached: the definition is still
     * active, or it was not active at the start and no other revision of the server is active now.
     */
    trackValidity(server: ServerSnapshot): () => boolean {
      const wasActive = isActive(server);
      return () => isActive(server) || (!wasActive && !revisions.has(tenantServerKey(server)));
    },
  };
}
