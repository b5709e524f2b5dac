import type { ServerStatus, ServersView, ToolsView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { allToolsQuery, isRefused, serversQuery, statusesQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { sortServers, type ListedServer } from '../state/filterServers.ts';
import { originOf } from '../state/origin.ts';
import { stateOf } from '../state/serverState.ts';
import { useFreshAfter } from '../useFreshAfter.ts';

type Statuses = Readonly<Record<string, ServerStatus>>;
type Tools = ToolsView['servers'];

/** Every server with how it stands, as far as it is known; how it stands arrives after the names. */
export function useListedServers() {
  const servers = useQuery(serversQuery);
  const statuses = useQuery(statusesQuery);
  const tools = useQuery(allToolsQuery);
  const userId = useUser()?.id;
  useFreshTools(statuses.data, tools.data);
  useFreshAfter(tools.dataUpdatedAt, statuses.refetch);
  const listed = useMemo(
    () => servers.data && list(servers.data, statuses.data, tools.data, userId),
    [servers.data, statuses.data, tools.data, userId],
  );
  return {
    listed: isRefused(servers.error) ? undefined : listed,
    error: servers.error,
    refetch: servers.refetch,
  };
}

function list(
  servers: ServersView,
  statuses: Statuses | undefined,
  tools: Tools | undefined,
  userId: string | undefined,
): ListedServer[] {
  const listedServers = Object.entries(servers).map(([name, view]): ListedServer => {
    const listed = tools?.[name];
    const status = statuses && (statuses[name] ?? null);
    const state = stateOf(view, status, listed);
    const isKnown = listed && (listed.state === 'connected' || listed.tools.length > 0);
    return {
      name,
      view,
      state,
      origin: originOf(view, userId, state.kind),
      tools: isKnown ? listed.tools.length : undefined,
    };
  });
  return sortServers(listedServers);
}

/** Once a server has come up whose tools were missing, they are asked for again. */
function useFreshTools(statuses: Statuses | undefined, tools: Tools | undefined): void {
  const client = useQueryClient();
  const before = useRef<Statuses | undefined>(undefined);
  useEffect(() => {
    if (!statuses || !tools || before.current === statuses) return;
    const was = before.current;
    before.current = statuses;
    const cameUp = Object.entries(statuses).some(
      ([name, { connectionState }]) =>
        connectionState === 'connected' &&
        was?.[name]?.connectionState !== 'connected' &&
        tools[name]?.state !== 'connected',
    );
    if (was && cameUp) void client.invalidateQueries({ queryKey: allToolsQuery.queryKey });
  }, [client, statuses, tools]);
}
