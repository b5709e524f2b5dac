import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { serversQuery } from './servers.ts';

/** Returns the title of a server by its ID, or the ID where no title is known. */
export function useServerTitleLookup(): (server: string) => string {
  const { data } = useQuery({ ...serversQuery, refetchInterval: false });
  return useCallback(
    (server) => (data && Object.hasOwn(data, server) ? data[server]?.title : undefined) ?? server,
    [data],
  );
}
