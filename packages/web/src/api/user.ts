import type { ApiKeyRequest, ApiKeyView, OwnUserView, SessionView } from '@behalf/contracts';
import type { McpPermission } from '@behalf/contracts/plain';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { encodeSegment, requestJson, sendRequest } from './request.ts';

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

/** A key just after it was made: the only time that it can be read. */
export type CreatedApiKey = ApiKeyView & { readonly key: string };

export const keysQuery = queryOptions({
  queryKey: ['account', 'keys'],
  queryFn: async ({ signal }) =>
    (await requestJson<{ keys: ApiKeyView[] }>('/api/user/keys', { signal })).keys,
});

export function createKey(key: ApiKeyRequest): Promise<CreatedApiKey> {
  return requestJson('/api/user/keys', { method: 'POST', body: key });
}

export async function deleteKey(id: string): Promise<void> {
  await sendRequest(`/api/user/keys/${encodeSegment(id)}`, { method: 'DELETE' });
}

export const ownSessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) =>
    (await requestJson<{ sessions: SessionView[] }>('/api/user/sessions', { signal })).sessions,
});

export async function endOwnSession(id: string): Promise<void> {
  await sendRequest(`/api/user/sessions/${encodeSegment(id)}`, { method: 'DELETE' });
}
