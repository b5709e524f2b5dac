import type { LiveConnectionsView } from '@behalf/contracts';
import {
  type ConnectionManager,
  type InspectionScheduler,
  type Principal,
  type Registry,
  type ServerConnections,
  isOfTenant,
} from '@behalf/gateway';
import { isOperator } from '../../http/authentication.ts';
import type { Route } from '../../http/route.ts';

interface ConnectionsParts {
  readonly registry: Pick<Registry, 'list'>;
  readonly connections: Pick<ConnectionManager, 'describe'>;
  readonly inspectionScheduler: Pick<InspectionScheduler, 'getState'>;
  /** Names this process. */
  readonly replica: string;
}

/** What this process has open and what fails, of the servers and the users of the caller's own tenant. */
export function connectionsRoute(parts: ConnectionsParts): Route {
  const { registry, connections, inspectionScheduler, replica } = parts;

  function viewOf(described: ServerConnections, caller: Principal): LiveServer {
    const { server, state, users, breakersOpen } = described;
    const inspected = inspectionScheduler.getState(server);
    // A server that serves is well, whatever the look before found.
    const failed = inspected.kind === 'failed' && state !== 'connected' ? inspected : undefined;
    const { code = failed?.code, retryAt = failed?.retryAt } = described;
    const startTimes = [described.since, failed?.since].filter((at) => at !== undefined);
    const inFlight = visibleInFlight(described, caller);
    return {
      server: server.name,
      ...(server.settings.title !== undefined && { title: server.settings.title }),
      scope: server.scope,
      ...(state !== undefined && { state }),
      users,
      ...(inFlight !== undefined && { inFlight }),
      ...(code !== undefined && { code }),
      ...(startTimes.length > 0 && { since: Math.min(...startTimes) }),
      ...(retryAt !== undefined && { retryAt }),
      isBreakerOpen: breakersOpen > 0,
    };
  }

  return {
    method: 'get',
    path: '/api/admin/connections',
    access: 'admin',
    scope: 'admin',
    handle(_req, res, caller) {
      const described = connections.describe(registry.list(caller.tenant), (principal) =>
        isOfTenant(principal, caller.tenant),
      );
      const sum = (count: (server: ServerConnections) => number) =>
        described.reduce((total, server) => total + count(server), 0);
      const view: LiveConnectionsView = {
        replica,
        totals: {
          shared: sum(({ open }) => open.shared),
          user: sum(({ open }) => open.user),
          ...(isOperator(caller) && { stateless: sum(({ open }) => open.stateless) }),
          breakersOpen: sum(({ breakersOpen }) => breakersOpen),
        },
        servers: described
          .filter(isRelevant)
          .map((server) => viewOf(server, caller))
          .sort((a, b) => (a.server < b.server ? -1 : 1)),
      };
      res.json(view);
    },
  };
}

type LiveServer = LiveConnectionsView['servers'][number];

/** Users may have any number of servers: of theirs only those are told where something is going on. */
function isRelevant({ server, open, inFlight, code }: ServerConnections): boolean {
  if (server.source !== 'user' || code !== undefined) return true;
  return open.shared + open.user + open.stateless + inFlight.own + inFlight.common > 0;
}

/** Undefined where the number would tell how much other tenants do: nobody knows whose those requests are. */
function visibleInFlight(
  { server, open, inFlight }: ServerConnections,
  caller: Principal,
): number | undefined {
  const isShared = server.scope === 'app' || open.stateless > 0;
  const includesOtherTenants = isShared && server.tenant !== caller.tenant;
  return includesOtherTenants && !isOperator(caller) ? undefined : inFlight.own + inFlight.common;
}
