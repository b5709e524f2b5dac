import type { AdminRoleView } from '@behalf/contracts';
import type { McpPermission } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeRole, rolesQuery } from '../../api/admin.ts';
import { ApiError } from '../../api/apiError.ts';
import { explainError } from '../../api/explain.ts';
import { userQuery } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Switch } from '../../ui/Field.tsx';
import { showToast } from '../../ui/toasts.ts';

/** One permission of a role. It moves at once, and goes back with an explanation when the gateway refuses. */
export function PermissionSwitch({
  role,
  bit,
}: {
  readonly role: AdminRoleView;
  readonly bit: McpPermission;
}) {
  const { roles } = strings.admin;
  const queryClient = useQueryClient();
  const { name, permissions } = role;
  // The mutation tells of itself a moment later than the click, and a controlled input would go back in between.
  const [pendingValue, setPendingValue] = useState<boolean>();
  const changeMutation = useMutation({
    // One after the other: each is decided on the version that the one before it made.
    scope: { id: `role ${name}` },
    mutationFn: (isOn: boolean) => {
      const current =
        queryClient.getQueryData(rolesQuery.queryKey)?.find((other) => other.name === name) ?? role;
      return changeRole(current, { permissions: { MCP_SERVERS: { [bit]: isOn } } });
    },
    onSuccess: (changed) => {
      queryClient.setQueryData(rolesQuery.queryKey, (all) =>
        all?.map((other) => (other.name === changed.name ? changed : other)),
      );
      void queryClient.invalidateQueries({ queryKey: userQuery.queryKey });
    },
    onError: (error) => {
      void queryClient.invalidateQueries({ queryKey: rolesQuery.queryKey });
      const title = roles.notChanged(roles.permissions[bit].name, name);
      const isVersionConflict = error instanceof ApiError && error.code === 'VERSION_CONFLICT';
      const { title: errorTitle, text } = explainError(error);
      showToast('danger', title, isVersionConflict ? roles.changedConcurrently : `${errorTitle}. ${text}`);
    },
    onSettled: () => setPendingValue(undefined),
  });
  const isManaged = role.managed.includes(bit);
  const { name: label, allows } = roles.permissions[bit];
  return (
    <Switch
      label={label}
      hint={isManaged ? `${allows} ${roles.managed}` : allows}
      isOn={
        pendingValue ?? (changeMutation.isPending ? changeMutation.variables : permissions.MCP_SERVERS[bit])
      }
      isDisabled={isManaged}
      onChange={(isOn) => {
        setPendingValue(isOn);
        changeMutation.mutate(isOn);
      }}
    />
  );
}
