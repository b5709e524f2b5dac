import type { AdminUserView, UserChangeRequest } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { changeUser } from '../../api/admin.ts';
import { explainError } from '../../api/explain.ts';
import { ApiError } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { UserRoleSelect } from './UserRoleSelect.tsx';
import styles from './UsersPanel.module.css';
import { cacheUser } from './cacheUser.ts';

/** Provider of accounts that are not managed by an identity provider. */
const LOCAL = 'local';

/** Row of an account with its role and whether it may sign in. */
export const UserRow = memo(function UserRow({
  user,
  isSelf,
  roles,
  onOpen,
}: {
  readonly user: AdminUserView;
  readonly isSelf: boolean;
  /** Names of all roles. */
  readonly roles: readonly string[];
  readonly onOpen: (id: string) => void;
}) {
  const { users } = strings.admin;
  const queryClient = useQueryClient();
  const [pendingChange, setPendingChange] = useState<ChangeToConfirm | null>(null);
  const changeMutation = useMutation({
    mutationFn: (wanted: UserChangeRequest) => changeUser(user.id, wanted),
    onSuccess: (changed) => cacheUser(queryClient, changed),
    onError: (error) => {
      void queryClient.invalidateQueries({ queryKey: ['admin', 'users'] });
      showToast('danger', users.notChanged(user.name), refusalText(error));
    },
  });

  function selectRole(role: string): void {
    if (isSelf && user.role === 'ADMIN') setPendingChange({ kind: 'own-role', role });
    else changeMutation.mutate({ role });
  }

  const canFollowClaims = user.roleSource === 'manual' && user.issuer !== LOCAL;
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
        <UserRoleSelect
          label={users.roleOf(user.name)}
          roles={roles}
          role={changeMutation.isPending ? (changeMutation.variables.role ?? user.role) : user.role}
          isBusy={changeMutation.isPending}
          onChange={selectRole}
        />
        <p className={styles['muted']}>
          {users.sources[user.roleSource]}{' '}
          {canFollowClaims && (
            <Button
              size="small"
              variant="quiet"
              title={users.followClaimsHint}
              onClick={() => changeMutation.mutate({ roleSource: 'claim' })}
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
            isBusy={changeMutation.isPending}
            onClick={() => changeMutation.mutate({ disabled: false })}
          >
            {users.enable}
          </Button>
        ) : (
          <Button
            size="small"
            variant="danger"
            aria-label={users.disableOf(user.name)}
            onClick={() => setPendingChange({ kind: 'disable' })}
          >
            {users.disable}
          </Button>
        )}
      </div>
      {pendingChange && (
        <ConfirmUserChangeDialog
          user={user}
          change={pendingChange}
          isSelf={isSelf}
          onClose={() => setPendingChange(null)}
        />
      )}
    </div>
  );
});

function refusalText(error: unknown): string {
  const { users } = strings.admin;
  if (error instanceof ApiError && error.code === 'LAST_ADMIN') return users.lastAdmin;
  if (error instanceof ApiError && error.code === 'VERSION_CONFLICT') return users.changedConcurrently;
  const { title, text } = explainError(error);
  return `${title}. ${text}`;
}

/** Changes that require a confirmation. */
type ChangeToConfirm = { readonly kind: 'disable' } | { readonly kind: 'own-role'; readonly role: string };

function ConfirmUserChangeDialog({
  user,
  change,
  isSelf,
  onClose,
}: {
  readonly user: AdminUserView;
  readonly change: ChangeToConfirm;
  readonly isSelf: boolean;
  readonly onClose: () => void;
}) {
  const { users } = strings.admin;
  const queryClient = useQueryClient();
  const isDisabling = change.kind === 'disable';
  const changeMutation = useMutation({
    mutationFn: () =>
      changeUser(user.id, change.kind === 'disable' ? { disabled: true } : { role: change.role }),
    onSuccess: (changed) => {
      cacheUser(queryClient, changed);
      if (isDisabling) showToast('success', users.wasDisabled(user.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={isDisabling ? users.disableTitle(user.name) : users.ownRoleTitle}
      confirm={isDisabling ? users.disable : users.ownRoleConfirm}
      isBusy={changeMutation.isPending}
      error={changeMutation.error}
      onConfirm={() => changeMutation.mutate()}
      onClose={onClose}
    >
      {change.kind === 'own-role'
        ? users.ownRoleText(change.role)
        : isSelf
          ? users.disableSelfText
          : users.disableText}
    </ConfirmDialog>
  );
}
