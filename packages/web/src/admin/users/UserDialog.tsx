import type { AdminUserView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { endUserSession, endUserSessions, userDetailsQuery, userSessionsQuery } from '../../api/admin.ts';
import { SessionList } from '../../settings/SessionList.tsx';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { formatDateTime } from '../../ui/format.ts';
import styles from './UsersPanel.module.css';

/** Details and sessions of an account. */
export function UserDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { users } = strings.admin;
  const { data: user, error, refetch } = useQuery(userDetailsQuery(id));
  return (
    <Dialog title={user?.name ?? users.details} onClose={onClose} isWide>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!user && !error && <Skeleton lines={6} />}
      {user && (
        <>
          <Facts facts={factsOf(user)} />
          <p>
            <Link href={`/admin/audit?actor=${encodeURIComponent(user.id)}`}>{users.auditOf}</Link>
          </p>
          <UserSessions user={user} />
        </>
      )}
    </Dialog>
  );
}

function factsOf(user: AdminUserView) {
  const { users } = strings.admin;
  const { id, email, issuer, role, roleSource, roleConfirmedAt, disabledAt, createdAt } = user;
  return [
    { name: users.email, value: email },
    { name: users.id, value: id, isCode: true },
    { name: users.issuer, value: issuer === 'local' ? users.local : issuer },
    { name: users.role, value: users.roleAndSource(role, users.sources[roleSource]) },
    ...(roleConfirmedAt === null
      ? []
      : [{ name: users.roleConfirmed, value: formatDateTime(roleConfirmedAt) }]),
    { name: users.created, value: formatDateTime(createdAt) },
    ...(disabledAt === null ? [] : [{ name: users.disabledSince, value: formatDateTime(disabledAt) }]),
  ];
}

/** Sessions of a user, which can be ended individually or all at once. */
function UserSessions({ user }: { readonly user: AdminUserView }) {
  const { users } = strings.admin;
  const queryClient = useQueryClient();
  const query = userSessionsQuery(user.id);
  const { data, error, refetch } = useQuery(query);
  // Also after an error: a session that is not found has already ended.
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
