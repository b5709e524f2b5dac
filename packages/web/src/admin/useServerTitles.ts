import type { LiveConnectionsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { connectionsQuery } from '../api/admin.ts';

/** Titles of servers by their IDs, for data that holds IDs only. A server without a title is not in the map. */
export function useServerTitles(): ReadonlyMap<string, string> {
  return useQuery({ ...connectionsQuery, refetchInterval: false, select: titlesById }).data ?? noTitles;
}

const noTitles: ReadonlyMap<string, string> = new Map();

function titlesById({ servers }: LiveConnectionsView): ReadonlyMap<string, string> {
  return new Map(
    servers.flatMap(({ server, title }) => (title === undefined ? [] : [[server, title] as const])),
  );
}
