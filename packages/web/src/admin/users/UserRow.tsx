import type { AdminUserView, UserChangeRequest } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { changeUser } from '../../api/admin.ts';
import { ApiError } from '../../api/apiError.ts';
import { explain } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { showToast } from '../../ui/toasts.ts';
import { ConfirmUserChange, type RiskyChange } from './ConfirmUserChange.tsx';
import { rememberUser } from './rememberUser.ts';
import { RoleSelect } from './RoleSelect.tsx';
import styles from './UsersPanel.module.css';

/** Accounts of our own; no provider speaks for them. */
const LOCAL = 'local';

/** An account: who it is, its role, and whether it may sign in. */
export const UserRow = memo(function UserRow({
  user,
  isSelf,
  roles,
  onOpen,
}: {
  readonly user: AdminUserView;
  readonly isSelf: boolean;
  /** The names of all roles. */
  readonly roles: readonly string[];
  readonly onOpen: (id: string) => void;
}) {
  const { users } = strings.admin;
  const client = useQueryClient();
  const [asking, setAsking] = useState<RiskyChange | null>(null);
  const change = useMutation({
    mutationFn: (wanted: UserChangeRequest) => changeUser(user.id, wanted),
    onSuccess: (changed) => rememberUser(client, changed),
    onError: (error) => {
      void client.invalidateQueries({ queryKey: ['admin', 'users'] });
      showToast('danger', users.notChanged(user.name), refusal(error));
    },
  });

  function giveRole(role: string): void {
    if (isSelf && user.role === 'ADMIN') setAsking({ kind: 'own-role', role });
    else change.mutate({ role });
  }

  const mayFollowClaims = user.roleSource === 'manual' && user.issuer !== LOCAL;
  return (
    <div role="listitem" className={styles['row']}>
      <div className={styles['who']}>
        <p className={styles['name']}>
          {user.name} {isSelf && <Badge tone="info">{users.you}</Badge>}{' '}
          {user.disabled && <Badge tone="danger">{users.disabled}</Badge>}
        </p>
        <p className={styles['muted']}>{user.email}</p>
      </div>
      <div className={styles['role']}>
        <RoleSelect
          label={users.roleOf(user.name)}
          roles={roles}
          role={change.isPending ? (change.variables.role ?? user.role) : user.role}
          isBusy={change.isPending}
          onChange={giveRole}
        />
        <p className={styles['muted']}>
          {users.sources[user.roleSource]}{' '}
          {mayFollowClaims && (
            <Button
              size="small"
              look="quiet"
              title={users.followClaimsHint}
              onClick={() => change.mutate({ roleSource: 'claim' })}
            >
              {users.followClaims}
            </Button>
          )}
        </p>
      </div>
      <div className={styles['actions']}>
        <Button size="small" aria-label={users.detailsOf(user.name)} onClick={() => onOpen(user.id)}>
          {users.details}
        </Button>
        {user.disabled ? (
          <Button
            size="small"
            aria-label={users.enableOf(user.name)}
            isBusy={change.isPending}
            onClick={() => change.mutate({ disabled: false })}
          >
            {users.enable}
          </Button>
        ) : (
          <Button
            size="small"
            look="danger"
            aria-label={users.disableOf(user.name)}
            onClick={() => setAsking({ kind: 'disable' })}
          >
            {users.disable}
          </Button>
        )}
      </div>
      {asking && (
        <ConfirmUserChange user={user} change={asking} isSelf={isSelf} onClose={() => setAsking(null)} />
      )}
    </div>
  );
});

function refusal(error: unknown): string {
  const { users } = strings.admin;
  if (error instanceof ApiError && error.code === 'LAST_ADMIN') return users.lastAdmin;
  if (error instanceof ApiError && error.code === 'VERSION_CONFLICT') return users.changedMeanwhile;
  const { title, text } = explain(error);
  return `${title}. ${text}`;
}
