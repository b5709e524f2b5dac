import type {
  AdminRoleView,
  AdminUserView,
  AdminUsersView,
  AuditVerifyView,
  AuditView,
  EffectiveConfigView,
  LiveConnectionsView,
  RoleChangeRequest,
  RoleRequest,
  SessionView,
  StatsView,
  UserChangeRequest,
} from '@behalf/contracts';
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { encodeSegment, requestJson, sendRequest } from './request.ts';

export type StatsRange = StatsView['range'];
export type LiveServer = LiveConnectionsView['servers'][number];
export type AuditEntry = AuditView['events'][number];

const STATS_REFRESH_MS = 15_000;
const CONNECTIONS_REFRESH_MS = 5_000;
/** Entries per page of the user list and of the audit log. */
const PAGE_SIZE = 100;

export const statsQuery = (range: StatsRange) =>
  queryOptions({
    queryKey: ['admin', 'stats', range],
    queryFn: ({ signal }) => requestJson<StatsView>(`/api/admin/stats?range=${range}`, { signal }),
    refetchInterval: STATS_REFRESH_MS,
  });

export const connectionsQuery = queryOptions({
  queryKey: ['admin', 'connections'],
  queryFn: ({ signal }) => requestJson<LiveConnectionsView>('/api/admin/connections', { signal }),
  // TanStack Query pauses the interval while the window is hidden.
  refetchInterval: CONNECTIONS_REFRESH_MS,
});

export const configQuery = queryOptions({
  queryKey: ['admin', 'config'],
  queryFn: ({ signal }) => requestJson<EffectiveConfigView>('/api/admin/config', { signal }),
});

export function reloadConfiguration(): Promise<unknown> {
  return requestJson('/api/admin/reload', { method: 'POST' });
}

export const rolesQuery = queryOptions({
  queryKey: ['admin', 'roles'],
  queryFn: async ({ signal }) =>
    (await requestJson<{ roles: AdminRoleView[] }>('/api/admin/roles', { signal })).roles,
});

const rolePath = (name: string) => `/api/admin/roles/${encodeSegment(name)}`;

export function createRole(role: RoleRequest): Promise<AdminRoleView> {
  return requestJson('/api/admin/roles', { method: 'POST', body: role });
}

/** Changes a role. The gateway rejects the change if the role is no longer at `version`. */
export function changeRole(
  { name, version }: Pick<AdminRoleView, 'name' | 'version'>,
  change: RoleChangeRequest,
): Promise<AdminRoleView> {
  const headers = { 'If-Match': `"${version}"` };
  return requestJson(rolePath(name), { method: 'PATCH', body: change, headers });
}

export async function deleteRole(name: string): Promise<void> {
  await sendRequest(rolePath(name), { method: 'DELETE' });
}

export const usersQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'users', search],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({
        limit: String(PAGE_SIZE),
        ...(search !== '' && { search }),
        ...(pageParam !== null && { after: pageParam }),
      });
      return requestJson<AdminUsersView>(`/api/admin/users?${query}`, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });

const userPath = (id: string) => `/api/admin/users/${encodeSegment(id)}`;

export const userDetailsQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'one-user', id],
    queryFn: ({ signal }) => requestJson<AdminUserView>(userPath(id), { signal }),
  });

export function changeUser(id: string, change: UserChangeRequest): Promise<AdminUserView> {
  return requestJson(userPath(id), { method: 'PATCH', body: change });
}

export const userSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'one-user', id, 'sessions'],
    queryFn: async ({ signal }) =>
      (await requestJson<{ sessions: SessionView[] }>(`${userPath(id)}/sessions`, { signal })).sessions,
  });

export async function endUserSession(id: string, session: string): Promise<void> {
  await sendRequest(`${userPath(id)}/sessions/${encodeSegment(session)}`, { method: 'DELETE' });
}

export async function endUserSessions(id: string): Promise<number> {
  const { ended } = await requestJson<{ ended: number }>(`${userPath(id)}/sessions`, { method: 'DELETE' });
  return ended;
}

/** `filters` is a query string. Its parameter names are the same as in the page address. */
export const auditQuery = (filters: string) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'audit', filters],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams(filters);
      query.set('limit', String(PAGE_SIZE));
      if (pageParam !== null) query.set('cursor', pageParam);
      return requestJson<AuditView>(`/api/admin/audit?${query}`, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next ?? null,
    // Recorded events do not change, and reloading many pages is expensive. The user refreshes explicitly.
    staleTime: Infinity,
    gcTime: 0,
  });

export function auditExportAddress(filters: string): string {
  return filters === '' ? '/api/admin/audit/export' : `/api/admin/audit/export?${filters}`;
}

export function verifyAudit(): Promise<AuditVerifyView> {
  return requestJson('/api/admin/audit/verify');
}

/** Returns server titles by server ID. A server without a title is not in the map. */
export function useServerTitles(): ReadonlyMap<string, string> {
  return useQuery({ ...connectionsQuery, refetchInterval: false, select: titlesById }).data ?? noTitles;
}

const noTitles: ReadonlyMap<string, string> = new Map();

function titlesById({ servers }: LiveConnectionsView): ReadonlyMap<string, string> {
  return new Map(
    servers.flatMap(({ server, title }) => (title === undefined ? [] : [[server, title] as const])),
  );
}
