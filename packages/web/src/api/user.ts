import type { ApiKeyRequest, ApiKeyView, OwnUserView, SessionView } from '@behalf/contracts';
import type { McpPermission } from '@behalf/contracts/plain';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { encodeSegment, requestJson, sendRequest } from './request.ts';

/** Refresh interval of the signed-in user, and thus the delay until the page shows a changed role. */
const REFRESH_MS = 15_000;

export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }) => requestJson<OwnUserView>('/api/user', { signal }),
  refetchInterval: REFRESH_MS,
  refetchOnWindowFocus: 'always',
});

/** Returns the signed-in user, or undefined while loading. */
export function useUser(): OwnUserView | undefined {
  return useQuery(userQuery).data;
}

/** Returns whether the user's role has a permission. Only for display: the gateway checks every request. */
export function usePermission(permission: McpPermission): boolean {
  return useUser()?.permissions.MCP_SERVERS[permission] ?? false;
}

/** New API key. No later response contains the key. */
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
