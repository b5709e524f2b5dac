import type { AdminUserView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { userDetailsQuery } from '../../api/admin.ts';
import { formatDateTime } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { UserSessions } from './UserSessions.tsx';

/** All about one account, and where it is signed in. */
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
