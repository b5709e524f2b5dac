import type { PrincipalSearchView, ServerPermissionsView, ShareRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { request, segment } from './request.ts';

const sharingPath = (id: string) => `/api/permissions/mcpServer/${segment(id)}`;

/** By `dbId`; of a server of the configuration by its name. */
export const sharingQuery = (id: string) =>
  queryOptions({
    queryKey: ['sharing', id],
    queryFn: ({ signal }) => request<ServerPermissionsView>(sharingPath(id), { signal }),
    // Read when the dialog opens: what is being edited does not change under one's hands.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export async function shareServer(id: string, change: ShareRequest): Promise<void> {
  await request(sharingPath(id), { method: 'PUT', body: change });
}

/** The gateway wants two characters at least. */
export const SHORTEST_SEARCH = 2;

export const principalsQuery = (text: string) =>
  queryOptions({
    queryKey: ['principals', text],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ q: text, limit: '10' });
      const path = `/api/permissions/search-principals?${query.toString()}`;
      return (await request<PrincipalSearchView>(path, { signal })).results;
    },
    enabled: text.length >= SHORTEST_SEARCH,
  });
