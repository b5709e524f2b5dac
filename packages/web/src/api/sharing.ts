import type { PrincipalSearchView, SharingView, ShareRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { request, segment } from './request.ts';

/** What can be shared. A server by `dbId`; one of the configuration by its name. */
export interface Shared {
  readonly kind: 'mcpServer' | 'block' | 'set';
  readonly id: string;
}

const sharingPath = ({ kind, id }: Shared) => `/api/permissions/${kind}/${segment(id)}`;

export const sharingQuery = (shared: Shared) =>
  queryOptions({
    queryKey: ['sharing', shared.kind, shared.id],
    queryFn: ({ signal }) => request<SharingView>(sharingPath(shared), { signal }),
    // Read when the dialog opens: what is being edited does not change under one's hands.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export async function share(shared: Shared, change: ShareRequest): Promise<void> {
  await request(sharingPath(shared), { method: 'PUT', body: change });
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
