import type { ErrorCode } from '@behalf/contracts';
import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { AppServer, ServerSnapshot } from '../servers/definition.ts';
import { type BreakerGuard, createBreakerGuard, createConnectionFailures } from './breakerGuard.ts';
import { createBreakers } from './breakers.ts';
import {
  type CloseTracker,
  type OpenAndRecord,
  type OpenConnection,
  type OpenConnections,
  createCloseTracker,
  createConnectWithRetry,
  createOpenAndRecord,
  createOpenConnections,
} from './connection.ts';
import { type DescribeConnections, createDescribeConnections } from './describeConnections.ts';
import type { SharedPool, UserPool } from './lease.ts';
import { type ActiveRevisions, createActiveRevisions, revisionKey, tenantServerKey } from './revisions.ts';
import { createRecoveryProbe, createSharedPool } from './sharedPool.ts';
import { type PendingConnections, createPendingConnections } from './slot.ts';
import { createUserPool } from './userPool.ts';

export type { ServerConnections } from './describeConnections.ts';
export type { ConnectionHolder } from './lease.ts';
export type { Lease, LeaseOptions, SharedPool, UserPool } from './lease.ts';

export interface ConnectionState {
  readonly connection: 'connected' | 'connecting' | 'disconnected' | 'error';
  readonly code?: ErrorCode;
  /** When the first of the failures was that are not over. */
  readonly since?: number;
  readonly retryAt?: number;
}

interface ConnectionCounts {
  readonly shared: number;
  readonly user: number;
  readonly stateless: number;
  readonly breakersOpen: number;
}

/** All connections to MCP servers: who opens one here closes it here. */
export interface ConnectionManager {
  readonly shared: SharedPool;
  readonly user: UserPool;
  /** All definitions that hold now. Connections of others serve their borrowers and are closed. */
  update(servers: readonly ServerSnapshot[]): void;
  /** Gives up a principal's connections to one server; resolves when those that nobody uses are closed. */
  dropForServer(serverId: string, principal: string): Promise<void>;
  /** The same for every server: a logout. */
  dropForPrincipal(principal: string): Promise<void>;
  /** Hears of both, also where nothing was open: what is presented elsewhere in a user's name is outdated too. */
  onConnectionsDropped(listener: (principal: string, serverId: string | undefined) => void): () => void;
  /** How a server stands for a principal. One that keeps no session is `connected` for everybody or for nobody. */
  state(server: ServerSnapshot, principal: string): ConnectionState;
  counts(): ConnectionCounts;
  /** How these servers stand for all who share them and for some of the users. Opens and changes nothing. */
  readonly describe: DescribeConnections;
  /** Closes everything, also what is in use or half open. Idempotent. */
  close(): Promise<void>;
}

interface ConnectionManagerParts {
  readonly open: OpenConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<ConnectionLimits>;
}

export function createConnectionManager(parts: ConnectionManagerParts): ConnectionManager {
  const { open, clock, random } = parts;
  const limits = { ...defaultConnectionLimits, ...parts.limits };
  const transport = createBreakers(clock, limits);
  const credential = createBreakers(clock, limits);
  const failures = createConnectionFailures(clock, limits);
  const breakerGuard = createBreakerGuard({ transport, credential, failures });
  const closeTracker = createCloseTracker(clock, limits.closeTimeoutMs);
  const pendingConnections = createPendingConnections(clock);
  const connections = createOpenConnections({ clock, closeTracker });
  const activeRevisions = createActiveRevisions();
  const shutdown = new AbortController();
  const openAndRecord = createOpenAndRecord({
    connect: createConnectWithRetry({ open, clock, random }),
    breakerGuard,
    failures,
  });
  const poolParts: PoolParts = {
    clock,
    limits,
    breakerGuard,
    openAndRecord,
    pendingConnections,
    closeTracker,
    connections,
    activeRevisions,
  };

  const shared = createSharedPool({ ...poolParts, onFailure: (server) => recoveryProbe.start(server) });
  const user = createUserPool(poolParts);
  const recoveryProbe = createRecoveryProbe({
    clock,
    random,
    isActive: (server) => activeRevisions.isActive(server),
    getRetryAt: (server) => transport.find(revisionKey(server), undefined)?.retryAt,
    probe: probeShared,
  });

  /** A fresh connection, because the one that is there may be what is broken. */
  async function probeShared(server: AppServer): Promise<void> {
    await shared.lease(server, { signal: shutdown.signal, forceNew: true }).then(
      (lease) => lease.release(),
      () => undefined,
    );
  }

  let cancelSweep: Cancel = () => undefined;
  /** One timer for all, and it needs no traffic: a quiet gateway closes idle connections too. */
  function scheduleSweep(): void {
    cancelSweep = clock.timer(limits.sweepIntervalMs, () => {
      shared.sweep();
      user.sweep();
      transport.sweep();
      credential.sweep();
      failures.sweep();
      scheduleSweep();
    });
  }
  scheduleSweep();

  async function closeAll(): Promise<void> {
    cancelSweep();
    recoveryProbe.close();
    shutdown.abort();
    const pendingClosed = pendingConnections.close(limits.closeTimeoutMs);
    connections.closeAll();
    await pendingClosed;
    await closeTracker.waitForAll();
  }
  let closing: Promise<void> | undefined;
  const dropListeners = new Set<(principal: string, serverId: string | undefined) => void>();

  function state(server: ServerSnapshot, principal: string): ConnectionState {
    const key = revisionKey(server);
    const scopedPrincipal = server.scope === 'app' ? undefined : principal;
    const failure = failures.find(key, scopedPrincipal);
    const transportBreaker = transport.find(key, scopedPrincipal);
    const credentialBreaker =
      scopedPrincipal === undefined ? undefined : credential.find(tenantServerKey(server), scopedPrincipal);
    const breaker = transportBreaker ?? credentialBreaker;
    if (breaker) {
      const { since, retryAt, cause } = breaker;
      return {
        connection: 'error',
        code: transportBreaker ? 'MCP_BREAKER_OPEN' : cause.code,
        // A breaker may not have counted all that failed before.
        since: Math.min(since, failure?.since ?? since),
        retryAt,
      };
    }
    const poolState = server.scope === 'app' ? shared.state(server) : user.state(server, principal);
    // What failed to open beside it does not matter, unless nobody was there at all.
    if (poolState && !(poolState === 'connected' && failure?.isUnreachable)) return { connection: poolState };
    if (!failure) return { connection: 'disconnected' };
    return { connection: 'error', code: failure.code, since: failure.since };
  }

  return {
    shared,
    user,
    update(servers) {
      activeRevisions.replace(servers);
      shared.retireOutdated();
      user.retireOutdated();
      recoveryProbe.retireOutdated();
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
    state,
    describe: createDescribeConnections({
      ...{ shared, user, transport, credential, failures },
      // Of a server that everybody shares: no principal has a say in it.
      state: (server) => state(server, '').connection,
    }),
    counts: () => ({
      shared: shared.size,
      user: user.size,
      stateless: user.statelessSize,
      breakersOpen: transport.openCount + credential.openCount,
    }),
    close: () => (closing ??= closeAll()),
  };
}

export interface ConnectionLimits {
  /** A user's connection that nobody used for this long is closed. */
  readonly idleTimeoutMs: number;
  /** How often idle connections and old breakers are looked for. */
  readonly sweepIntervalMs: number;
  /** Connections of one principal. */
  readonly maxPerPrincipal: number;
  /** Connections of all users together; counted apart for servers that keep no session. */
  readonly maxTotal: number;
  /** The longest a close is waited for. */
  readonly closeTimeoutMs: number;
  /** The longest one user waits for another's opening, which may show that the server keeps no session. */
  readonly probeWaitMs: number;
  /** Consecutive failures that open a breaker. */
  readonly breakerThreshold: number;
  readonly breakerBaseMs: number;
  readonly breakerMaxMs: number;
  /** Breakers and remembered failures kept at most; the oldest goes first. */
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

/** What the pools are made of. They share it: one shutdown, one count, one memory of failures. */
export interface PoolParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly breakerGuard: BreakerGuard;
  readonly openAndRecord: OpenAndRecord;
  readonly pendingConnections: PendingConnections;
  readonly closeTracker: CloseTracker;
  readonly connections: OpenConnections;
  readonly activeRevisions: ActiveRevisions;
}

/** How a server stands in a pool; undefined when the pool has nothing of it. */
export type PoolState = 'connected' | 'connecting' | undefined;
