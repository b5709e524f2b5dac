import type { ApiKeyRequest, ApiKeyView, SessionView } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { request, segment, send } from './request.ts';

/** A key just after it was made: the only time that it can be read. */
export type NewApiKey = ApiKeyView & { readonly key: string };

export const keysQuery = queryOptions({
  queryKey: ['account', 'keys'],
  queryFn: async ({ signal }) => (await request<{ keys: ApiKeyView[] }>('/api/user/keys', { signal })).keys,
});

export function createKey(key: ApiKeyRequest): Promise<NewApiKey> {
  return request('/api/user/keys', { method: 'POST', body: key });
}

export async function deleteKey(id: string): Promise<void> {
  await send(`/api/user/keys/${segment(id)}`, { method: 'DELETE' });
}

export const ownSessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) =>
    (await request<{ sessions: SessionView[] }>('/api/user/sessions', { signal })).sessions,
});

export async function endOwnSession(id: string): Promise<void> {
  await send(`/api/user/sessions/${segment(id)}`, { method: 'DELETE' });
}
