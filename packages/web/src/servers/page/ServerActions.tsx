import type { ServerView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { deleteServer, removeCachedServer, invalidateServers } from '../../api/servers.ts';
import { usePermission } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { showToast } from '../../ui/toasts.ts';
import { ServerDialog } from '../form/ServerDialog.tsx';
import { SharingDialog } from '../sharing/SharingDialog.tsx';
import { useOpenDialog } from './useOpenDialog.ts';

/** What the person may do with the definition: both their role and the server's own rights have to allow it. */
export function ServerActions({ name, view }: { readonly name: string; readonly view: ServerView }) {
  const words = strings.servers;
  const [isDeleting, setDeleting] = useState(false);
  const isStored = view.source === 'user';
  // Changing and deleting is defining, and asks for the same permission of the role.
  const canDefine = usePermission('CREATE') && isStored;
  const canShare = usePermission('SHARE') && hasAclBit(view.permissions, 'SHARE');
  const canEdit = canDefine && hasAclBit(view.permissions, 'EDIT');
  const canDelete = canDefine && hasAclBit(view.permissions, 'DELETE');
  const title = view.title ?? name;
  const { open, show, close } = useOpenDialog({ edit: canEdit, share: canShare });
  return (
    <>
      {canEdit && (
        <Button icon={<Icon name="pencil" />} onClick={() => show('edit')}>
          {words.edit}
        </Button>
      )}
      {canShare && (
        <Button icon={<Icon name="share" />} onClick={() => show('share')}>
          {words.share}
        </Button>
      )}
      {canDelete && (
        <Button variant="danger" icon={<Icon name="trash" />} onClick={() => setDeleting(true)}>
          {words.remove}
        </Button>
      )}
      {open === 'edit' && (
        <ServerDialog
          server={{ name, view }}
          canEdit={canEdit}
          onClose={close}
          onSaved={(saved) => {
            showToast('success', words.saved(saved.title ?? name));
            close();
          }}
        />
      )}
      {open === 'share' && (
        <SharingDialog
          resource={{ kind: 'mcpServer', id: view.dbId ?? name }}
          resourceTexts={{ ...words.sharing, lead: sharingLead(view) }}
          title={title}
          callerAclBits={view.permissions}
          canShare={canShare}
          onClose={close}
          onShared={invalidateServers}
        />
      )}
      {isDeleting && <DeleteServerDialog name={name} title={title} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** What the dialog says about the secrets of the server. */
function sharingLead({ source, apiKey }: ServerView): string {
  const { sharing } = strings.servers;
  if (source !== 'user') return sharing.leadConfiguration;
  return apiKey?.source === 'admin' ? sharing.leadKey : sharing.lead;
}

function DeleteServerDialog({
  name,
  title,
  onClose,
}: {
  readonly name: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const words = strings.servers;
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteServer(name),
    onSuccess: () => {
      removeCachedServer(queryClient, name);
      navigate('/servers');
      showToast('success', words.removed(title));
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(title)}
      confirm={words.remove}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {words.removeText}
    </ConfirmDialog>
  );
}
