import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { usersQuery } from '../../api/admin.ts';

/** Names of users by their ids, of those that a first look finds: the log itself holds ids alone. */
export function useActorNames(): ReadonlyMap<string, string> {
  const { data } = useInfiniteQuery(usersQuery(''));
  return useMemo(
    () => new Map(data?.pages.flatMap(({ users }) => users.map(({ id, name }) => [id, name] as const))),
    [data],
  );
}
