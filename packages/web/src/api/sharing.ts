import type { PrincipalSearchView, SharingView, ShareRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { requestJson, encodeSegment } from './request.ts';

/** Shareable resource. The ID of a server is its `dbId`, or its name if it comes from the configuration. */
export interface SharedResource {
  readonly kind: 'mcpServer' | 'block' | 'set';
  readonly id: string;
}

const sharingPath = ({ kind, id }: SharedResource) => `/api/permissions/${kind}/${encodeSegment(id)}`;

export const sharingQuery = (resource: SharedResource) =>
  queryOptions({
    queryKey: ['sharing', resource.kind, resource.id],
    queryFn: ({ signal }) => requestJson<SharingView>(sharingPath(resource), { signal }),
    // Loaded only when the dialog opens, so that the form does not change while the user edits it.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export async function updateSharing(resource: SharedResource, change: ShareRequest): Promise<void> {
  await requestJson(sharingPath(resource), { method: 'PUT', body: change });
}

/** Minimum length that the gateway accepts. */
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
