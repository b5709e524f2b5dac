import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { rolesQuery } from '../../api/admin.ts';
import { useFocusAfterRemoval } from '../../hooks/useFocusAfterRemoval.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { DeleteRoleDialog } from './DeleteRoleDialog.tsx';
import { EditRoleDescriptionDialog } from './EditRoleDescriptionDialog.tsx';
import { NewRoleDialog } from './NewRoleDialog.tsx';
import { RoleCard, type RoleAction } from './RoleCard.tsx';

type OpenDialog = { readonly dialog: 'new' } | RoleAction;

/** The roles of the tenant, and what each of them allows. */
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
