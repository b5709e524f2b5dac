import type { ApiKeyRequest, ApiKeyView, SessionView } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { requestJson, encodeSegment, sendRequest } from './request.ts';

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
