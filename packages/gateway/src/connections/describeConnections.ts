import type { ErrorCode } from '@behalf/contracts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { Breakers } from './breakers.ts';
import type { ConnectionState } from './connectionManager.ts';
import type { ConnectionFailures } from './breakerGuard.ts';
import { revisionKey, tenantServerKey } from './revisions.ts';
import type { SharedConnections } from './sharedPool.ts';
import type { UserConnections } from './userPool.ts';

/** What is open to a server and what fails there. Numbers and codes: nobody's name, key or value. */
export interface ServerConnections {
  readonly server: ServerSnapshot;
  /** Of a server that everybody shares: how its one connection stands. */
  readonly state?: ConnectionState['connection'];
  /** Connections that are open: the one everybody shares, those of single users, and those that keep no session. */
  readonly open: { readonly shared: number; readonly user: number; readonly stateless: number };
  /** How many users have one of their own. */
  readonly users: number;
  /** Requests under way: on users' own connections, and on those that users of every tenant may be using. */
  readonly inFlight: { readonly own: number; readonly common: number };
  readonly breakersOpen: number;
  /** What failed last. */
  readonly code?: ErrorCode;
  /** When the first of the failures was that are not over. */
  readonly since?: number;
  readonly retryAt?: number;
}

/** Of users only those whose principal passes: whoever asks must not learn how much others do. */
export type DescribeConnections = (
  servers: readonly ServerSnapshot[],
  isOwn: (principal: string) => boolean,
) => ServerConnections[];

interface DescribeParts {
  readonly shared: Pick<SharedConnections, 'state' | 'countBorrowers'>;
  readonly user: Pick<UserConnections, 'listOwn' | 'listStateless'>;
  readonly transport: Pick<Breakers, 'list'>;
  readonly credential: Pick<Breakers, 'list'>;
  readonly failures: Pick<ConnectionFailures, 'list'>;
  readonly state: (server: ServerSnapshot) => ConnectionState['connection'];
}

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

/** Reads the pools once, however many servers there are. */
export function createDescribeConnections(parts: DescribeParts): DescribeConnections {
  const { shared, user, transport, credential, failures, state } = parts;

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
    for (const { server, borrowerCount } of user.listStateless()) {
      const tally = byRevision.get(revisionKey(server));
      if (!tally) continue;
      tally.stateless += 1;
      tally.statelessInFlight += borrowerCount;
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

  function describe(server: ServerSnapshot, tally: ServerTally): ServerConnections {
    const isOpen = server.scope === 'app' && shared.state(server) === 'connected';
    // Which opening failed before does not matter any more while there is a connection.
    const issues = isOpen ? tally.issues.filter(isRelevantWhileOpen) : tally.issues;
    return {
      server,
      ...(server.scope === 'app' && { state: state(server) }),
      open: { shared: isOpen ? 1 : 0, user: tally.user, stateless: tally.stateless },
      users: tally.users.size,
      inFlight: {
        own: tally.ownInFlight,
        common: tally.statelessInFlight + (server.scope === 'app' ? shared.countBorrowers(server) : 0),
      },
      breakersOpen: issues.filter(isOpenBreaker).length,
      ...summarize(issues),
    };
  }

  return (servers, isOwn) => {
    const tallies = servers.map(createTally);
    const indexBy = (keyOf: (server: ServerSnapshot) => string) =>
      new Map(tallies.map(([server, tally]) => [keyOf(server), tally]));
    tallyConnections(
      indexBy(revisionKey),
      indexBy(tenantServerKey),
      (principal) => principal === undefined || isOwn(principal),
    );
    return tallies.map(([server, tally]) => describe(server, tally));
  };
}

function createTally(server: ServerSnapshot): [ServerSnapshot, ServerTally] {
  const zeroCounts = { user: 0, ownInFlight: 0, stateless: 0, statelessInFlight: 0 };
  return [server, { ...zeroCounts, users: new Set(), issues: [] }];
}

function isRelevantWhileOpen(issue: ConnectionIssue): boolean {
  return isOpenBreaker(issue) || issue.isUnreachable === true;
}

function isOpenBreaker({ retryAt }: ConnectionIssue): boolean {
  return retryAt !== undefined;
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
