import { hasAclBit } from '@behalf/contracts/plain';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { SharedResource } from '../../api/sharing.ts';
import { usePermission } from '../../api/user.ts';
import { useOpenDialog } from '../../hooks/useOpenDialog.ts';
import buttons from '../../ui/Button.module.css';
import { Button } from '../../ui/Button.tsx';
import links from '../../ui/ButtonLink.module.css';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { classNames } from '../../ui/classNames.ts';
import { SharingDialog, type SharingTexts } from './SharingDialog.tsx';

interface ResourceActionsProps {
  readonly resource: SharedResource;
  readonly title: string;
  /** The user's own permissions on the resource. */
  readonly permissions: number;
  /** False if a rule besides `permissions` forbids the user to edit and delete the resource. */
  readonly canChange: boolean;
  readonly texts: ResourceTexts;
  /** Path of the edit page, or a function that renders the edit dialog. */
  readonly edit: string | ((dialog: EditDialogProps) => ReactNode);
  /** Invalidates the queries that show the resource. */
  readonly onShared: (queryClient: QueryClient) => Promise<void>;
  readonly deletion: ResourceDeletion;
}

interface EditDialogProps {
  /** False after the permission was revoked. The dialog stays open. */
  readonly canEdit: boolean;
  readonly onClose: () => void;
}

interface ResourceDeletion {
  readonly deleteResource: () => Promise<void>;
  /** Removes the deleted resource from the cached queries without a request for it. */
  readonly removeCached: (queryClient: QueryClient) => void;
  /** Page that the user sees after the deletion. */
  readonly nextPath: string;
}

interface ResourceTexts {
  readonly edit: string;
  readonly share: string;
  readonly delete: string;
  readonly deleteTitle: (title: string) => string;
  readonly deleteText: string;
  readonly deleted: (title: string) => string;
  readonly sharing: SharingTexts;
}

/** Edit, share and delete buttons of a server, block or set, depending on the permissions of the user. */
export function ResourceActions({
  resource,
  title,
  permissions,
  canChange,
  texts,
  edit,
  onShared,
  deletion,
}: ResourceActionsProps) {
  const [isDeleting, setDeleting] = useState(false);
  const canShare = usePermission('SHARE') && hasAclBit(permissions, 'SHARE');
  const canEdit = canChange && hasAclBit(permissions, 'EDIT');
  const hasEditPage = typeof edit === 'string';
  const { open, show, close } = useOpenDialog({ edit: canEdit && !hasEditPage, share: canShare });
  return (
    <>
      {canEdit && hasEditPage && (
        <Link href={edit} className={classNames(buttons['button'], buttons['plain'], links['link'])}>
          <Icon name="pencil" />
          {texts.edit}
        </Link>
      )}
      {canEdit && !hasEditPage && (
        <Button icon={<Icon name="pencil" />} onClick={() => show('edit')}>
          {texts.edit}
        </Button>
      )}
      {canShare && (
        <Button icon={<Icon name="share" />} onClick={() => show('share')}>
          {texts.share}
        </Button>
      )}
      {canChange && hasAclBit(permissions, 'DELETE') && (
        <Button variant="danger" icon={<Icon name="trash" />} onClick={() => setDeleting(true)}>
          {texts.delete}
        </Button>
      )}
      {open === 'edit' && !hasEditPage && edit({ canEdit, onClose: close })}
      {open === 'share' && (
        <SharingDialog
          resource={resource}
          resourceTexts={texts.sharing}
          title={title}
          callerAclBits={permissions}
          canShare={canShare}
          onClose={close}
          onShared={onShared}
        />
      )}
      {isDeleting && (
        <DeleteDialog title={title} texts={texts} deletion={deletion} onClose={() => setDeleting(false)} />
      )}
    </>
  );
}

function DeleteDialog({
  title,
  texts,
  deletion,
  onClose,
}: Pick<ResourceActionsProps, 'title' | 'texts' | 'deletion'> & { readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { mutate, isPending, error } = useMutation({
    mutationFn: deletion.deleteResource,
    onSuccess: () => {
      deletion.removeCached(queryClient);
      navigate(deletion.nextPath);
      showToast('success', texts.deleted(title));
    },
  });
  return (
    <ConfirmDialog
      title={texts.deleteTitle(title)}
      confirm={texts.delete}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {texts.deleteText}
    </ConfirmDialog>
  );
}
