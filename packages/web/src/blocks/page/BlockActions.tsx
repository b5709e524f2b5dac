import type { BlockView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { removeCachedBlock, invalidateBlocks, deleteBlock } from '../../api/blocks.ts';
import { encodeSegment } from '../../api/request.ts';
import { usePermission } from '../../api/user.ts';
import { useOpenDialog } from '../../servers/page/useOpenDialog.ts';
import { SharingDialog } from '../../servers/sharing/SharingDialog.tsx';
import { strings } from '../../strings/strings.ts';
import buttons from '../../ui/Button.module.css';
import { Button } from '../../ui/Button.tsx';
import links from '../../ui/ButtonLink.module.css';
import { classNames } from '../../ui/classNames.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { showToast } from '../../ui/toasts.ts';

/** What the person may do with the block besides running it. */
export function BlockActions({ block }: { readonly block: BlockView }) {
  const words = strings.blocks;
  const { id, title, permissions } = block;
  const [isDeleting, setDeleting] = useState(false);
  const canShare = usePermission('SHARE') && hasAclBit(permissions, 'SHARE');
  const { open, show, close } = useOpenDialog({ edit: false, share: canShare });
  return (
    <>
      {hasAclBit(permissions, 'EDIT') && (
        <Link
          href={`/blocks/${encodeSegment(id)}/edit`}
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
          resource={{ kind: 'block', id }}
          title={title}
          resourceTexts={words.sharing}
          callerAclBits={permissions}
          canShare={canShare}
          onClose={close}
          onShared={invalidateBlocks}
        />
      )}
      {isDeleting && <DeleteBlockDialog block={block} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteBlockDialog({ block, onClose }: { readonly block: BlockView; readonly onClose: () => void }) {
  const words = strings.blocks;
  const { id, title } = block;
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteBlock(id),
    onSuccess: () => {
      removeCachedBlock(queryClient, id);
      navigate('/blocks');
      showToast('success', words.deleted(title));
    },
  });
  return (
    <ConfirmDialog
      title={words.deleteTitle(title)}
      confirm={words.delete}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {words.deleteText}
    </ConfirmDialog>
  );
}
