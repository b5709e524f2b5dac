import type { ErrorCode } from '@behalf/contracts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Breakers } from './breakers.ts';
import type { ConnectionState } from './connectionManager.ts';
import type { OpenFailures } from './openFailures.ts';
import { revisionKey, serverKey } from './serverKey.ts';
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

export interface DescribeParts {
  readonly shared: Pick<SharedConnections, 'state' | 'borrowers'>;
  readonly user: Pick<UserConnections, 'own' | 'stateless'>;
  readonly transport: Pick<Breakers, 'all'>;
  readonly credential: Pick<Breakers, 'all'>;
  readonly failures: Pick<OpenFailures, 'all'>;
  readonly state: (server: ServerSnapshot) => ConnectionState['connection'];
}

interface Trouble {
  readonly code: ErrorCode;
  readonly since: number;
  readonly at: number;
  readonly retryAt?: number | undefined;
  readonly isLost?: boolean;
}

interface Tally {
  user: number;
  readonly users: Set<string>;
  busy: number;
  stateless: number;
  busyStateless: number;
  readonly troubles: Trouble[];
}

/** Reads the pools once, however many servers there are. */
export function createDescribeConnections(parts: DescribeParts): DescribeConnections {
  const { shared, user, transport, credential, failures, state } = parts;

  function count(
    byRevision: ReadonlyMap<string, Tally>,
    byServer: ReadonlyMap<string, Tally>,
    concerns: (principal: string | undefined) => boolean,
  ): void {
    for (const { server, principal, borrowers } of user.own()) {
      const tally = byRevision.get(revisionKey(server));
      if (!tally || !concerns(principal)) continue;
      tally.user += 1;
      tally.users.add(principal);
      tally.busy += borrowers;
    }
    for (const { server, borrowers } of user.stateless()) {
      const tally = byRevision.get(revisionKey(server));
      if (!tally) continue;
      tally.stateless += 1;
      tally.busyStateless += borrowers;
    }
    for (const failure of failures.all()) {
      if (concerns(failure.principal)) byRevision.get(failure.server)?.troubles.push(failure);
    }
    for (const [breakers, tallies] of [
      [transport, byRevision],
      [credential, byServer],
    ] as const) {
      for (const { subject, since, at, retryAt, cause } of breakers.all()) {
        if (retryAt === undefined || !concerns(subject.principal)) continue;
        tallies.get(subject.server)?.troubles.push({ code: cause.code, since, at, retryAt });
      }
    }
  }

  function describe(server: ServerSnapshot, tally: Tally): ServerConnections {
    const isOpen = server.scope === 'app' && shared.state(server) === 'connected';
    // Which opening failed before does not matter any more while there is a connection.
    const troubles = isOpen ? tally.troubles.filter(countsWhileOpen) : tally.troubles;
    return {
      server,
      ...(server.scope === 'app' && { state: state(server) }),
      open: { shared: isOpen ? 1 : 0, user: tally.user, stateless: tally.stateless },
      users: tally.users.size,
      inFlight: {
        own: tally.busy,
        common: tally.busyStateless + (server.scope === 'app' ? shared.borrowers(server) : 0),
      },
      breakersOpen: troubles.filter(isBreaker).length,
      ...summary(troubles),
    };
  }

  return (servers, isOwn) => {
    const tallies = servers.map(emptyTally);
    const by = (keyOf: (server: ServerSnapshot) => string) =>
      new Map(tallies.map(([server, tally]) => [keyOf(server), tally]));
    count(by(revisionKey), by(serverKey), (principal) => principal === undefined || isOwn(principal));
    return tallies.map(([server, tally]) => describe(server, tally));
  };
}

function emptyTally(server: ServerSnapshot): [ServerSnapshot, Tally] {
  const none = { user: 0, busy: 0, stateless: 0, busyStateless: 0 };
  return [server, { ...none, users: new Set(), troubles: [] }];
}

function countsWhileOpen(trouble: Trouble): boolean {
  return isBreaker(trouble) || trouble.isLost === true;
}

function isBreaker({ retryAt }: Trouble): boolean {
  return retryAt !== undefined;
}

function summary(troubles: readonly Trouble[]): Pick<ServerConnections, 'code' | 'since' | 'retryAt'> {
  const [first, ...others] = troubles;
  if (!first) return {};
  const last = others.reduce((latest, trouble) => (trouble.at > latest.at ? trouble : latest), first);
  const again = troubles.flatMap(({ retryAt }) => retryAt ?? []);
  return {
    code: last.code,
    since: Math.min(...troubles.map(({ since }) => since)),
    ...(again.length > 0 && { retryAt: Math.max(...again) }),
  };
}
