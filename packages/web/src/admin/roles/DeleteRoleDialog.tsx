import { useMutation, useQueryClient } from '@tanstack/react-query';
import { deleteRole, rolesQuery } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { showToast } from '../../ui/toasts.ts';

export function DeleteRoleDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { roles } = strings.admin;
  const queryClient = useQueryClient();
  const deleteMutation = useMutation({
    mutationFn: () => deleteRole(name),
    onSuccess: () => {
      queryClient.setQueryData(rolesQuery.queryKey, (all) => all?.filter((role) => role.name !== name));
      showToast('success', roles.deleted(name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={roles.deleteTitle(name)}
      confirm={strings.common.delete}
      isBusy={deleteMutation.isPending}
      error={deleteMutation.error}
      onConfirm={() => deleteMutation.mutate()}
      onClose={onClose}
    >
      {roles.deleteText}
    </ConfirmDialog>
  );
}
