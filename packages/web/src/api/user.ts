import type { OwnUserView } from '@behalf/contracts';
import type { McpPermission } from '@behalf/contracts/plain';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { requestJson } from './request.ts';

/** How soon a change of somebody's role shows on a page that is open. */
const REFRESH_MS = 15_000;

export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }) => requestJson<OwnUserView>('/api/user', { signal }),
  refetchInterval: REFRESH_MS,
  refetchOnWindowFocus: 'always',
});

/** Who is signed in; undefined until it is known. */
export function useUser(): OwnUserView | undefined {
  return useQuery(userQuery).data;
}

/** What the gateway would allow. It decides each time itself; this only spares people a refusal. */
export function usePermission(permission: McpPermission): boolean {
  return useUser()?.permissions.MCP_SERVERS[permission] ?? false;
}
