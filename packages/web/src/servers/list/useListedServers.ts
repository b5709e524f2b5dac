import type { ServerStatus, ServersView, ToolsView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { allToolsQuery, isForbidden, serversQuery, statusesQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { sortServers, type ListedServer } from '../state/filterServers.ts';
import { serverOrigin } from '../state/origin.ts';
import { toServerState } from '../state/serverState.ts';
import { useStatusRefetch } from '../useStatusRefetch.ts';

type Statuses = Readonly<Record<string, ServerStatus>>;
type Tools = ToolsView['servers'];

/** Every server with how it stands, as far as it is known; how it stands arrives after the names. */
export function useListedServers() {
  const servers = useQuery(serversQuery);
  const statuses = useQuery(statusesQuery);
  const tools = useQuery(allToolsQuery);
  const userId = useUser()?.id;
  useToolsRefetch(statuses.data, tools.data);
  useStatusRefetch(tools.dataUpdatedAt, statuses.refetch);
  const listed = useMemo(
    () => servers.data && toListedServers(servers.data, statuses.data, tools.data, userId),
    [servers.data, statuses.data, tools.data, userId],
  );
  return {
    listed: isForbidden(servers.error) ? undefined : listed,
    error: servers.error,
    refetch: servers.refetch,
  };
}

function toListedServers(
  servers: ServersView,
  statuses: Statuses | undefined,
  tools: Tools | undefined,
  userId: string | undefined,
): ListedServer[] {
  const listedServers = Object.entries(servers).map(([name, view]): ListedServer => {
    const listed = tools?.[name];
    const status = statuses && (statuses[name] ?? null);
    const state = toServerState(view, status, listed);
    const isKnown = listed && (listed.state === 'connected' || listed.tools.length > 0);
    return {
      name,
      view,
      state,
      origin: serverOrigin(view, userId, state.kind),
      tools: isKnown ? listed.tools.length : undefined,
    };
  });
  return sortServers(listedServers);
}

/** Once a server has come up whose tools were missing, they are asked for again. */
function useToolsRefetch(statuses: Statuses | undefined, tools: Tools | undefined): void {
  const queryClient = useQueryClient();
  const previous = useRef<Statuses | undefined>(undefined);
  useEffect(() => {
    if (!statuses || !tools || previous.current === statuses) return;
    const previousStatuses = previous.current;
    previous.current = statuses;
    const hasNewConnection = Object.entries(statuses).some(
      ([name, { connectionState }]) =>
        connectionState === 'connected' &&
        previousStatuses?.[name]?.connectionState !== 'connected' &&
        tools[name]?.state !== 'connected',
    );
    if (previousStatuses && hasNewConnection)
      void queryClient.invalidateQueries({ queryKey: allToolsQuery.queryKey });
  }, [queryClient, statuses, tools]);
}
