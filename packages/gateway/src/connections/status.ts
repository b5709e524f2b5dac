import type { ErrorCode } from '@behalf/contracts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { BreakerGuard } from './breakers.ts';
import { revisionKey, tenantServerKey } from './lease.ts';
import type { SharedConnections } from './sharedPool.ts';
import type { UserConnections } from './userPool.ts';

export interface ConnectionState {
  readonly connection: 'connected' | 'connecting' | 'disconnected' | 'error';
  readonly code?: ErrorCode;
  /** Time of the first failure since the last success. */
  readonly since?: number;
  readonly retryAt?: number;
}

/** Connections and failures of a server. Contains counts and codes only, no user names, keys or values. */
export interface ServerConnections {
  readonly server: ServerSnapshot;
  /** State of the shared connection. Set for app servers only. */
  readonly state?: ConnectionState['connection'];
  /** Open connections by kind. */
  readonly open: { readonly shared: number; readonly user: number; readonly stateless: number };
  /** Number of users with a session. */
  readonly users: number;
  /** Requests in progress: on users' sessions, and on connections that users of all tenants share. */
  readonly inFlight: { readonly own: number; readonly common: number };
  readonly breakersOpen: number;
  /** Code of the latest failure. */
  readonly code?: ErrorCode;
  /** Time of the first failure since the last success. */
  readonly since?: number;
  readonly retryAt?: number;
}

/** Counts only principals that `isOwn` accepts: an administrator must not learn the activity of other tenants. */
export type DescribeConnections = (
  servers: readonly ServerSnapshot[],
  isOwn: (principal: string) => boolean,
) => ServerConnections[];

interface ConnectionIssue {
  readonly code: ErrorCode;
  readonly since: number;
  readonly lastFailureAt: number;
  readonly retryAt?: number | undefined;
  readonly isUnreachable?: boolean;
}

interface ServerTally {
  user: number;
  readonly users: Set<string>;
  ownInFlight: number;
  stateless: number;
  statelessInFlight: number;
  readonly issues: ConnectionIssue[];
}

export function createConnectionStatus(parts: {
  readonly shared: SharedConnections;
  readonly user: UserConnections;
  readonly breakerGuard: BreakerGuard;
}) {
  const { shared, user } = parts;
  const { transport, credential, failures } = parts.breakerGuard;

  function state(server: ServerSnapshot, principal: string): ConnectionState {
    const key = revisionKey(server);
    const scopedPrincipal = server.scope === 'app' ? undefined : principal;
    const failure = failures.find(key, scopedPrincipal);
    const transportBreaker = transport.findOpen(key, scopedPrincipal);
    const credentialBreaker =
      scopedPrincipal === undefined
        ? undefined
        : credential.findOpen(tenantServerKey(server), scopedPrincipal);
    const breaker = transportBreaker ?? credentialBreaker;
    if (breaker) {
      const { since, retryAt, cause } = breaker;
      return {
        connection: 'error',
        code: transportBreaker ? 'MCP_BREAKER_OPEN' : cause.code,
        // The failure can be older: a breaker does not count all kinds of failures.
        since: Math.min(since, failure?.since ?? since),
        retryAt,
      };
    }
    const poolState = server.scope === 'app' ? shared.state(server) : user.state(server, principal);
    // While a connection is open, a failure to open another one matters only if the server was unreachable.
    if (poolState && !(poolState === 'connected' && failure?.isUnreachable)) return { connection: poolState };
    if (!failure) return { connection: 'disconnected' };
    return { connection: 'error', code: failure.code, since: failure.since };
  }

  function tallyConnections(
    byRevision: ReadonlyMap<string, ServerTally>,
    byServer: ReadonlyMap<string, ServerTally>,
    isVisible: (principal: string | undefined) => boolean,
  ): void {
    for (const { server, principal, borrowerCount } of user.listOwn()) {
      const tally = byRevision.get(revisionKey(server));
      if (!tally || !isVisible(principal)) continue;
      tally.user += 1;
      tally.users.add(principal);
      tally.ownInFlight += borrowerCount;
    }
    for (const { server, connection } of user.listStateless()) {
      const tally = byRevision.get(revisionKey(server));
      if (!tally) continue;
      tally.stateless += 1;
      tally.statelessInFlight += connection.borrowerCount;
    }
    for (const failure of failures.list()) {
      if (isVisible(failure.principal)) byRevision.get(failure.server)?.issues.push(failure);
    }
    for (const [breakers, tallies] of [
      [transport, byRevision],
      [credential, byServer],
    ] as const) {
      for (const { subject, since, lastFailureAt, retryAt, cause } of breakers.list()) {
        if (retryAt === undefined || !isVisible(subject.principal)) continue;
        tallies.get(subject.server)?.issues.push({ code: cause.code, since, lastFailureAt, retryAt });
      }
    }
  }

  function describeServer(server: ServerSnapshot, tally: ServerTally): ServerConnections {
    const isOpen = server.scope === 'app' && shared.state(server) === 'connected';
    // While the shared connection is open, earlier failures to open it no longer matter.
    const issues = isOpen
      ? tally.issues.filter(({ retryAt, isUnreachable }) => retryAt !== undefined || isUnreachable === true)
      : tally.issues;
    return {
      server,
      // The state of a shared connection does not depend on a principal.
      ...(server.scope === 'app' && { state: state(server, '').connection }),
      open: { shared: isOpen ? 1 : 0, user: tally.user, stateless: tally.stateless },
      users: tally.users.size,
      inFlight: {
        own: tally.ownInFlight,
        common: tally.statelessInFlight + (server.scope === 'app' ? shared.countBorrowers(server) : 0),
      },
      breakersOpen: issues.filter(({ retryAt }) => retryAt !== undefined).length,
      ...summarize(issues),
    };
  }

  /** Reads the pools once, regardless of the number of servers. */
  const describe: DescribeConnections = (servers, isOwn) => {
    const tallies = servers.map((server) => [server, createTally()] as const);
    const indexBy = (keyOf: (server: ServerSnapshot) => string) =>
      new Map(tallies.map(([server, tally]) => [keyOf(server), tally]));
    tallyConnections(
      indexBy(revisionKey),
      indexBy(tenantServerKey),
      (principal) => principal === undefined || isOwn(principal),
    );
    return tallies.map(([server, tally]) => describeServer(server, tally));
  };

  return { state, describe };
}

function createTally(): ServerTally {
  return { user: 0, ownInFlight: 0, stateless: 0, statelessInFlight: 0, users: new Set(), issues: [] };
}

function summarize(
  issues: readonly ConnectionIssue[],
): Pick<ServerConnections, 'code' | 'since' | 'retryAt'> {
  const [first, ...others] = issues;
  if (!first) return {};
  const last = others.reduce(
    (latest, issue) => (issue.lastFailureAt > latest.lastFailureAt ? issue : latest),
    first,
  );
  const retryTimes = issues.flatMap(({ retryAt }) => retryAt ?? []);
  return {
    code: last.code,
    since: Math.min(...issues.map(({ since }) => since)),
    ...(retryTimes.length > 0 && { retryAt: Math.max(...retryTimes) }),
  };
}
