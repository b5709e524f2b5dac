import type { SetView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { deleteSet, invalidateSets } from '../api/sets.ts';
import { usePermission } from '../api/user.ts';
import { useOpenDialog } from '../servers/page/useOpenDialog.ts';
import { SharingDialog } from '../servers/sharing/SharingDialog.tsx';
import { strings } from '../strings/strings.ts';
import buttons from '../ui/Button.module.css';
import { Button } from '../ui/Button.tsx';
import links from '../ui/ButtonLink.module.css';
import { classNames } from '../ui/classNames.ts';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { showToast } from '../ui/toasts.ts';

/** What the person may do with the set besides running it. */
export function SetActions({ set: { id, title, permissions } }: { readonly set: SetView }) {
  const words = strings.sets;
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const canShare = usePermission('SHARE') && hasAclBit(permissions, 'SHARE');
  const { open, show, close } = useOpenDialog({ edit: false, share: canShare });
  const deleteMutation = useMutation({
    mutationFn: () => deleteSet(id),
    onSuccess: () => {
      navigate('/sets');
      showToast('success', words.deleted(title));
      return invalidateSets(queryClient);
    },
  });
  return (
    <>
      {hasAclBit(permissions, 'EDIT') && (
        <Link
          href={`/sets/${encodeSegment(id)}/edit`}
          className={classNames(buttons['button'], buttons['plain'], links['link'])}
        >
          <Icon name="pencil" />
          {words.edit}
        </Link>
      )}
      {canShare && (
        <Button icon={<Icon name="share" />} onClick={() => show('share')}>
          {words.share}
        </Button>
      )}
      {hasAclBit(permissions, 'DELETE') && (
        <Button variant="danger" icon={<Icon name="trash" />} onClick={() => setDeleting(true)}>
          {words.delete}
        </Button>
      )}
      {open === 'share' && (
        <SharingDialog
          resource={{ kind: 'set', id }}
          title={title}
          resourceTexts={words.sharing}
          callerAclBits={permissions}
          canShare={canShare}
          onClose={close}
          onShared={invalidateSets}
        />
      )}
      {isDeleting && (
        <ConfirmDialog
          title={words.deleteTitle(title)}
          confirm={words.delete}
          isBusy={deleteMutation.isPending}
          error={deleteMutation.error}
          onConfirm={() => deleteMutation.mutate()}
          onClose={() => setDeleting(false)}
        >
          {words.deleteText}
        </ConfirmDialog>
      )}
    </>
  );
}
