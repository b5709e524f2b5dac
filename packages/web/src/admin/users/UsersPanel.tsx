import type { AdminRoleView } from '@behalf/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { rolesQuery, usersQuery } from '../../api/admin.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { TextField } from '../../ui/Field.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { UserDialog } from './UserDialog.tsx';
import { UserRow } from './UserRow.tsx';
import styles from './UsersPanel.module.css';

const noRoles: readonly string[] = [];
const roleNames = (roles: readonly AdminRoleView[]) => roles.map(({ name }) => name);

/** Accounts of the tenant. The address contains the search text and the open account. */
export function UsersPanel() {
  const { users } = strings.admin;
  const [params, setParams] = useSearchParams();
  const search = (params.get('search') ?? '').trim();
  const openUserId = params.get('user');
  const list = useInfiniteQuery({ ...usersQuery(search), placeholderData: keepPreviousData });
  const loadedUsers = list.data?.pages.flatMap((page) => page.users);

  const ownId = useUser()?.id;
  const { data: roles = noRoles } = useQuery({ ...rolesQuery, select: roleNames });

  const setParam = useCallback(
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
  const openUser = useCallback((id: string) => setParam('user', id), [setParam]);

  return (
    <Page title={users.title} lead={users.lead} isWide>
      <UserSearch value={search} onSearch={(text) => setParam('search', text)} />
      {list.error && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {!loadedUsers && !list.error && <Skeleton lines={10} />}
      {loadedUsers?.length === 0 && (
        <EmptyState icon="users" title={users.noneTitle}>
          {users.noneText(search)}
        </EmptyState>
      )}
      {loadedUsers && loadedUsers.length > 0 && (
        <div className={styles['list']} aria-busy={list.isPlaceholderData}>
          <LongList label={users.title} items={loadedUsers} keyOf={({ id }) => id} itemHeight={4.75}>
            {(user) => <UserRow user={user} isSelf={user.id === ownId} roles={roles} onOpen={openUser} />}
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
      {openUserId !== null && (
        <UserDialog key={openUserId} id={openUserId} onClose={() => setParam('user', null)} />
      )}
    </Page>
  );
}

/** Delay between the last key press and the search. */
const DEBOUNCE_MS = 300;

/** Search field with debounce. */
function UserSearch({
  value,
  onSearch,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const { users } = strings.admin;
  const [text, setText] = useState(value);
  const onSearchRef = useRef(onSearch);
  useEffect(() => {
    onSearchRef.current = onSearch;
  });
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onSearchRef.current(text.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <search className={styles['search']}>
      <TextField
        type="search"
        label={users.search}
        maxLength={100}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  );
}
