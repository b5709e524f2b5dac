import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { rolesQuery } from '../../api/admin.ts';
import { useFocusKept } from '../../hooks/useFocusKept.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { DeleteRoleDialog } from './DeleteRoleDialog.tsx';
import { DescribeRoleDialog } from './DescribeRoleDialog.tsx';
import { NewRoleDialog } from './NewRoleDialog.tsx';
import { RoleCard, type RoleAction } from './RoleCard.tsx';

type Open = { readonly dialog: 'new' } | RoleAction;

/** The roles of the tenant, and what each of them allows. */
export function RolesPanel() {
  const { roles } = strings.admin;
  const { data, error, refetch } = useQuery(rolesQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const newRole = useFocusKept<HTMLButtonElement>(data?.length ?? 0);
  const close = () => setOpen(null);
  const chosen = open && 'name' in open ? data?.find(({ name }) => name === open.name) : undefined;
  return (
    <Page
      title={roles.title}
      lead={roles.lead}
      isWide
      actions={
        <Button
          ref={newRole}
          look="primary"
          icon={<Icon name="plus" />}
          onClick={() => setOpen({ dialog: 'new' })}
        >
          {roles.create}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={12} />}
      {data && (
        <LongList label={roles.title} items={data} keyOf={({ name }) => name} itemHeight={19}>
          {(role) => <RoleCard role={role} onAct={setOpen} />}
        </LongList>
      )}
      {open?.dialog === 'new' && <NewRoleDialog onClose={close} />}
      {open?.dialog === 'describe' && chosen && <DescribeRoleDialog role={chosen} onClose={close} />}
      {open?.dialog === 'delete' && chosen && <DeleteRoleDialog name={chosen.name} onClose={close} />}
    </Page>
  );
}
