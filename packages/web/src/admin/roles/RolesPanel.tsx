import type { AdminRoleView } from '@behalf/contracts';
import { type McpPermission, mcpPermissions } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { changeRole, rolesQuery } from '../../api/admin.ts';
import { explainError } from '../../api/explain.ts';
import { ApiError } from '../../api/request.ts';
import { userQuery } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Switch } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { useFocusAfterRemoval } from '../../ui/focus.ts';
import { formatAgo } from '../../ui/format.ts';
import styles from './RoleCard.module.css';
import { DeleteRoleDialog, EditRoleDescriptionDialog, NewRoleDialog } from './RoleDialogs.tsx';

type OpenDialog = { readonly dialog: 'new' } | RoleAction;

export function RolesPanel() {
  const { roles } = strings.admin;
  const { data, error, refetch } = useQuery(rolesQuery);
  const [openDialog, setOpenDialog] = useState<OpenDialog | null>(null);
  const createButton = useFocusAfterRemoval<HTMLButtonElement>(data?.length ?? 0);
  const close = () => setOpenDialog(null);
  const role =
    openDialog && 'name' in openDialog ? data?.find(({ name }) => name === openDialog.name) : undefined;
  return (
    <Page
      title={roles.title}
      lead={roles.lead}
      isWide
      actions={
        <Button
          ref={createButton}
          variant="primary"
          icon={<Icon name="plus" />}
          onClick={() => setOpenDialog({ dialog: 'new' })}
        >
          {roles.create}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={12} />}
      {data && (
        <LongList label={roles.title} items={data} keyOf={({ name }) => name} itemHeight={19}>
          {(role) => <RoleCard role={role} onAction={setOpenDialog} />}
        </LongList>
      )}
      {openDialog?.dialog === 'new' && <NewRoleDialog onClose={close} />}
      {openDialog?.dialog === 'describe' && role && <EditRoleDescriptionDialog role={role} onClose={close} />}
      {openDialog?.dialog === 'delete' && role && <DeleteRoleDialog name={role.name} onClose={close} />}
    </Page>
  );
}

/** Action requested by a button of a role card. */
interface RoleAction {
  readonly dialog: 'describe' | 'delete';
  readonly name: string;
}

const RoleCard = memo(function RoleCard({
  role,
  onAction,
}: {
  readonly role: AdminRoleView;
  readonly onAction: (action: RoleAction) => void;
}) {
  const { roles } = strings.admin;
  const { name, description, builtIn, updatedAt } = role;
  return (
    <div role="listitem" className={styles['item']}>
      <Card className={styles['card']}>
        <header className={styles['header']}>
          <div className={styles['names']}>
            <h2>{name}</h2>
            {builtIn && <Badge>{roles.builtIn}</Badge>}
            {updatedAt !== null && (
              <span className={styles['muted']}>{roles.changed(formatAgo(updatedAt))}</span>
            )}
          </div>
          <div className={styles['actions']}>
            <IconButton
              label={roles.editDescription(name)}
              icon={<Icon name="pencil" />}
              onClick={() => onAction({ dialog: 'describe', name })}
            />
            {!builtIn && (
              <IconButton
                label={roles.delete(name)}
                icon={<Icon name="trash" />}
                onClick={() => onAction({ dialog: 'delete', name })}
              />
            )}
          </div>
          <p className={styles['description']}>
            {description || roles.builtInTexts[name] || roles.noDescription}
          </p>
        </header>
        <fieldset className={styles['switches']}>
          <legend className="visually-hidden">{roles.permissionsOf(name)}</legend>
          {mcpPermissions.map((bit) => (
            <PermissionSwitch key={bit} role={role} bit={bit} />
          ))}
        </fieldset>
      </Card>
    </div>
  );
});

/** Switch of one permission. It changes immediately and reverts with an error if the gateway refuses. */
function PermissionSwitch({ role, bit }: { readonly role: AdminRoleView; readonly bit: McpPermission }) {
  const { roles } = strings.admin;
  const queryClient = useQueryClient();
  const { name, permissions } = role;
  // The mutation state updates one render after the click. Without this value the switch would
  // revert briefly.
  const [pendingValue, setPendingValue] = useState<boolean>();
  const changeMutation = useMutation({
    // Runs changes of a role in sequence, because each needs the version that the previous change produced.
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
