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
import { type Route, adminRoute } from '../../http/route.ts';

interface ConnectionsParts {
  readonly registry: Pick<Registry, 'list'>;
  readonly connections: Pick<ConnectionManager, 'describe'>;
  readonly inspectionScheduler: Pick<InspectionScheduler, 'getState'>;
  /** Identifies this process. */
  readonly replica: string;
}

/** Open connections and failures in this process, for the servers and users of the caller's tenant. */
export function connectionsRoute(parts: ConnectionsParts): Route {
  const { registry, connections, inspectionScheduler, replica } = parts;

  function viewOf(described: ServerConnections, caller: Principal): LiveServer {
    const { server, state, users, breakersOpen } = described;
    const inspected = inspectionScheduler.getState(server);
    // An established connection is newer evidence than a failed inspection.
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

  return adminRoute('get', '/api/admin/connections', (_req, res, caller) => {
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
  });
}

type LiveServer = LiveConnectionsView['servers'][number];

/** User-defined servers can be numerous, so those without activity or failure are left out. */
function isRelevant({ server, open, inFlight, code }: ServerConnections): boolean {
  if (server.source !== 'user' || code !== undefined) return true;
  return open.shared + open.user + open.stateless + inFlight.own + inFlight.common > 0;
}

/** Undefined if the number includes requests of other tenants, which only operators may see. */
function visibleInFlight(
  { server, open, inFlight }: ServerConnections,
  caller: Principal,
): number | undefined {
  const isShared = server.scope === 'app' || open.stateless > 0;
  const includesOtherTenants = isShared && server.tenant !== caller.tenant;
  return includesOtherTenants && !isOperator(caller) ? undefined : inFlight.own + inFlight.common;
}
