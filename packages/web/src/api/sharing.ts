import type { PrincipalSearchView, SharingView, ShareRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { requestJson, encodeSegment } from './request.ts';

/** What can be shared. A server by `dbId`; one of the configuration by its name. */
export interface SharedResource {
  readonly kind: 'mcpServer' | 'block' | 'set';
  readonly id: string;
}

const sharingPath = ({ kind, id }: SharedResource) => `/api/permissions/${kind}/${encodeSegment(id)}`;

export const sharingQuery = (resource: SharedResource) =>
  queryOptions({
    queryKey: ['sharing', resource.kind, resource.id],
    queryFn: ({ signal }) => requestJson<SharingView>(sharingPath(resource), { signal }),
    // Read when the dialog opens: what is being edited does not change under one's hands.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export async function updateSharing(resource: SharedResource, change: ShareRequest): Promise<void> {
  await requestJson(sharingPath(resource), { method: 'PUT', body: change });
}

/** The gateway wants two characters at least. */
export const MIN_SEARCH_LENGTH = 2;

export const principalsQuery = (text: string) =>
  queryOptions({
    queryKey: ['principals', text],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ q: text, limit: '10' });
      const path = `/api/permissions/search-principals?${query.toString()}`;
      return (await requestJson<PrincipalSearchView>(path, { signal })).results;
    },
    enabled: text.length >= MIN_SEARCH_LENGTH,
  });
