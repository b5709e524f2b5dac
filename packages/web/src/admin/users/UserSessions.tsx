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
  const queryClient = useQueryClient();
  const query = userSessionsQuery(user.id);
  const { data, error, refetch } = useQuery(query);
  // Also after a failure: a session that is not found has ended elsewhere.
  const refetchSessions = () => queryClient.invalidateQueries({ queryKey: query.queryKey });
  const endMutation = useMutation({
    mutationFn: (id: string) => endUserSession(user.id, id),
    onSettled: refetchSessions,
  });
  const endAllMutation = useMutation({
    mutationFn: () => endUserSessions(user.id),
    onSuccess: (ended) => showToast('success', users.sessionsEnded(ended)),
    onSettled: refetchSessions,
  });
  const shownError = endMutation.error ?? endAllMutation.error ?? error;
  return (
    <section className={styles['sessions']}>
      <header className={styles['sessionsHeader']}>
        <h3>{users.sessions}</h3>
        {data && data.length > 0 && (
          <Button
            size="small"
            variant="danger"
            isBusy={endAllMutation.isPending}
            onClick={() => endAllMutation.mutate()}
          >
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
          endingId={endMutation.isPending ? endMutation.variables : undefined}
          onEnd={({ id }) => endMutation.mutate(id)}
        />
      )}
    </section>
  );
}
