import type { AdminUserView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeUser } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { showToast } from '../../ui/toasts.ts';
import { cacheUser } from './cacheUser.ts';

/** What is asked about before it is done. */
export type ChangeToConfirm =
  { readonly kind: 'disable' } | { readonly kind: 'own-role'; readonly role: string };

export function ConfirmUserChangeDialog({
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
