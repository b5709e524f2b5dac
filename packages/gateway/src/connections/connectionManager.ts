import type { ErrorCode } from '@behalf/contracts';
import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { AppServer, ServerSnapshot } from '../registry/server.ts';
import { createAttempt } from './attempt.ts';
import { createBreakers } from './breakers.ts';
import { createClosings } from './closings.ts';
import { createConnect, type Open } from './connect.ts';
import { createCurrentServers } from './currentServers.ts';
import { createDescribeConnections, type DescribeConnections } from './describeConnections.ts';
import { createGate } from './gate.ts';
import type { SharedPool, UserPool } from './lease.ts';
import { defaultLimits, type ConnectionLimits } from './limits.ts';
import { createOpenConnections } from './openConnections.ts';
import { createOpenFailures } from './openFailures.ts';
import { createOpenings } from './openings.ts';
import type { PoolParts } from './poolParts.ts';
import { createSelfProbe } from './selfProbe.ts';
import { revisionKey, serverKey } from './serverKey.ts';
import { createSharedPool } from './sharedPool.ts';
import { createUserPool } from './userPool.ts';

export type { ServerConnections } from './describeConnections.ts';
export type { Holder } from './holder.ts';
export type { Lease, LeaseOptions, SharedPool, UserPool } from './lease.ts';
export type { ConnectionLimits } from './limits.ts';

export interface ConnectionState {
  readonly connection: 'connected' | 'connecting' | 'disconnected' | 'error';
  readonly code?: ErrorCode;
  /** When the first of the failures was that are not over. */
  readonly since?: number;
  readonly retryAt?: number;
}

export interface ConnectionCounts {
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
  dropHolder(serverId: string, principal: string): Promise<void>;
  /** The same for every server: a logout. */
  dropPrincipal(principal: string): Promise<void>;
  /** Hears of both, also where nothing was open: what is presented elsewhere in a user's name is outdated too. */
  onDropped(listener: (principal: string, serverId: string | undefined) => void): () => void;
  /** How a server stands for a principal. One that keeps no session is `connected` for everybody or for nobody. */
  state(server: ServerSnapshot, principal: string): ConnectionState;
  counts(): ConnectionCounts;
  /** How these servers stand for all who share them and for some of the users. Opens and changes nothing. */
  readonly describe: DescribeConnections;
  /** Closes everything, also what is in use or half open. Idempotent. */
  close(): Promise<void>;
}

export interface ConnectionManagerParts {
  readonly open: Open;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<ConnectionLimits>;
}

export function createConnectionManager(parts: ConnectionManagerParts): ConnectionManager {
  const { open, clock, random } = parts;
  const limits = { ...defaultLimits, ...parts.limits };
  const transport = createBreakers(clock, limits);
  const credential = createBreakers(clock, limits);
  const failures = createOpenFailures(clock, limits);
  const gate = createGate({ transport, credential, failures });
  const closings = createClosings(clock, limits.closeMs);
  const openings = createOpenings(clock);
  const connections = createOpenConnections({ clock, closings });
  const current = createCurrentServers();
  const shutdown = new AbortController();
  const attempt = createAttempt({ connect: createConnect({ open, clock, random }), gate, failures });
  const pool: PoolParts = { clock, limits, gate, attempt, openings, closings, connections, current };

  const shared = createSharedPool({ ...pool, onFailure: (server) => selfProbe.watch(server) });
  const user = createUserPool(pool);
  const selfProbe = createSelfProbe({
    clock,
    random,
    holds: (server) => current.holds(server),
    retryAt: (server) => transport.find(revisionKey(server), undefined)?.retryAt,
    probe,
  });

  /** A fresh connection, because the one that is there may be what is broken. */
  async function probe(server: AppServer): Promise<void> {
    await shared.lease(server, { signal: shutdown.signal, forceNew: true }).then(
      (held) => held.release(),
      () => undefined,
    );
  }

  let cancelSweep: Cancel = () => undefined;
  /** One timer for all, and it needs no traffic: a quiet gateway closes idle connections too. */
  function sweepLater(): void {
    cancelSweep = clock.timer(limits.sweepMs, () => {
      shared.sweep();
      user.sweep();
      transport.sweep();
      credential.sweep();
      failures.sweep();
      sweepLater();
    });
  }
  sweepLater();

  async function closeEverything(): Promise<void> {
    cancelSweep();
    selfProbe.close();
    shutdown.abort();
    const stopped = openings.close(limits.closeMs);
    connections.closeAll();
    await stopped;
    await closings.settled();
  }
  let closing: Promise<void> | undefined;
  const droppings = new Set<(principal: string, serverId: string | undefined) => void>();

  function state(server: ServerSnapshot, principal: string): ConnectionState {
    const key = revisionKey(server);
    const holder = server.scope === 'app' ? undefined : principal;
    const failure = failures.find(key, holder);
    const parked = transport.find(key, holder);
    const refused = holder === undefined ? undefined : credential.find(serverKey(server), holder);
    const breaker = parked ?? refused;
    if (breaker) {
      const { since, retryAt, cause } = breaker;
      return {
        connection: 'error',
        code: parked ? 'MCP_BREAKER_OPEN' : cause.code,
        // A breaker may not have counted all that failed before.
        since: Math.min(since, failure?.since ?? since),
        retryAt,
      };
    }
    const open = server.scope === 'app' ? shared.state(server) : user.state(server, principal);
    // What failed to open beside it does not matter, unless nobody was there at all.
    if (open && !(open === 'connected' && failure?.isLost)) return { connection: open };
    if (!failure) return { connection: 'disconnected' };
    return { connection: 'error', code: failure.code, since: failure.since };
  }

  return {
    shared,
    user,
    update(servers) {
      current.replace(servers);
      shared.retireOutdated();
      user.retireOutdated();
      selfProbe.retireOutdated();
    },
    dropHolder(serverId, principal) {
      for (const tell of droppings) tell(principal, serverId);
      return user.dropHolder(serverId, principal);
    },
    dropPrincipal(principal) {
      for (const tell of droppings) tell(principal, undefined);
      return user.dropPrincipal(principal);
    },
    onDropped(listener) {
      droppings.add(listener);
      return () => void droppings.delete(listener);
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
      breakersOpen: transport.open + credential.open,
    }),
    close: () => (closing ??= closeEverything()),
  };
}
