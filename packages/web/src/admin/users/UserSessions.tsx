import type { AdminUserView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { endUserSession, endUserSessions, userSessionsQuery } from '../../api/admin.ts';
import { SessionList } from '../../settings/SessionList.tsx';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/toasts.ts';
import styles from './UsersPanel.module.css';

/** Where a user is signed in: each sign-in can be ended, or all of them. */
export function UserSessions({ user }: { readonly user: AdminUserView }) {
  const { users } = strings.admin;
  const client = useQueryClient();
  const query = userSessionsQuery(user.id);
  const { data, error, refetch } = useQuery(query);
  // Also after a failure: a session that is not found has ended elsewhere.
  const refetchSessions = () => client.invalidateQueries({ queryKey: query.queryKey });
  const end = useMutation({
    mutationFn: (id: string) => endUserSession(user.id, id),
    onSettled: refetchSessions,
  });
  const endAll = useMutation({
    mutationFn: () => endUserSessions(user.id),
    onSuccess: (ended) => showToast('success', users.sessionsEnded(ended)),
    onSettled: refetchSessions,
  });
  const shownError = end.error ?? endAll.error ?? error;
  return (
    <section className={styles['sessions']}>
      <header className={styles['sessionsHeader']}>
        <h3>{users.sessions}</h3>
        {data && data.length > 0 && (
          <Button size="small" variant="danger" isBusy={endAll.isPending} onClick={() => endAll.mutate()}>
            {users.endAll}
          </Button>
        )}
      </header>
      {shownError && <ErrorNotice error={shownError} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={3} />}
      {data?.length === 0 && <p className={styles['muted']}>{users.noSessions}</p>}
      {data && data.length > 0 && (
        <SessionList
          sessions={data}
          endingId={end.isPending ? end.variables : undefined}
          onEnd={({ id }) => end.mutate(id)}
        />
      )}
    </section>
  );
}
