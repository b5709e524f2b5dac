import { useMutation, useQueryClient } from '@tanstack/react-query';
import { deleteRole, rolesQuery } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { showToast } from '../../ui/toasts.ts';

export function DeleteRoleDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { roles } = strings.admin;
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteRole(name),
    onSuccess: () => {
      client.setQueryData(rolesQuery.queryKey, (all) => all?.filter((role) => role.name !== name));
      showToast('success', roles.deleted(name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={roles.deleteTitle(name)}
      confirm={strings.common.delete}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {roles.deleteText}
    </ConfirmDialog>
  );
}
