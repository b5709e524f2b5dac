import type { AdminRoleView } from '@behalf/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';
import { rolesQuery, usersQuery } from '../../api/admin.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { UserDialog } from './UserDialog.tsx';
import { UserRow } from './UserRow.tsx';
import { UserSearch } from './UserSearch.tsx';
import styles from './UsersPanel.module.css';

const noRoles: readonly string[] = [];
const namesOf = (roles: readonly AdminRoleView[]) => roles.map(({ name }) => name);

/** The accounts of the tenant. What is searched for and whose details are open stands in the address. */
export function UsersPanel() {
  const { users } = strings.admin;
  const [params, setParams] = useSearchParams();
  const search = (params.get('search') ?? '').trim();
  const opened = params.get('user');
  const list = useInfiniteQuery({ ...usersQuery(search), placeholderData: keepPreviousData });
  const found = list.data?.pages.flatMap((page) => page.users);

  const own = useUser()?.id;
  const { data: roles = noRoles } = useQuery({ ...rolesQuery, select: namesOf });

  const put = useCallback(
    (name: 'search' | 'user', value: string | null) => {
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          if (value) next.set(name, value);
          else next.delete(name);
          return next;
        },
        { replace: true },
      );
    },
    [setParams],
  );
  const open = useCallback((id: string) => put('user', id), [put]);

  return (
    <Page title={users.title} lead={users.lead} isWide>
      <UserSearch value={search} onSearch={(text) => put('search', text)} />
      {list.error && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {!found && !list.error && <Skeleton lines={10} />}
      {found?.length === 0 && (
        <EmptyState icon="users" title={users.nobodyTitle}>
          {users.nobodyText(search)}
        </EmptyState>
      )}
      {found && found.length > 0 && (
        <div className={styles['list']} aria-busy={list.isPlaceholderData}>
          <LongList label={users.title} items={found} keyOf={({ id }) => id} itemHeight={4.75}>
            {(user) => <UserRow user={user} isSelf={user.id === own} roles={roles} onOpen={open} />}
          </LongList>
        </div>
      )}
      {list.hasNextPage && (
        <div>
          <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {strings.common.more}
          </Button>
        </div>
      )}
      {opened !== null && <UserDialog key={opened} id={opened} onClose={() => put('user', null)} />}
    </Page>
  );
}
