import type { AdminUsersView, AdminUserView } from '@behalf/contracts';
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { userDetailsQuery } from '../../api/admin.ts';
import { userQuery } from '../../api/user.ts';

/** Writes a changed account to all cached queries that contain it. */
export function cacheUser(queryClient: QueryClient, user: AdminUserView): void {
  queryClient.setQueryData(userDetailsQuery(user.id).queryKey, user);
  queryClient.setQueriesData<InfiniteData<AdminUsersView>>(
    { queryKey: ['admin', 'users'] },
    (data) => data && { ...data, pages: data.pages.map((page) => replaceUser(page, user)) },
  );
  // The changed account may be the signed-in user.
  void queryClient.invalidateQueries({ queryKey: userQuery.queryKey });
}

export function replaceUser(page: AdminUsersView, user: AdminUserView): AdminUsersView {
  if (!page.users.some(({ id }) => id === user.id)) return page;
  return { ...page, users: page.users.map((other) => (other.id === user.id ? user : other)) };
}
