import type { SetView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { isForbidden } from '../api/servers.ts';
import { deleteSet, invalidateSets, isSetNotFound, setQuery } from '../api/sets.ts';
import { usePermission } from '../api/user.ts';
import page from '../blocks/page/BlockPage.module.css';
import { useOpenDialog } from '../hooks/useOpenDialog.ts';
import { SharingDialog } from '../servers/sharing/SharingDialog.tsx';
import { strings } from '../strings/strings.ts';
import buttons from '../ui/Button.module.css';
import { Button } from '../ui/Button.tsx';
import links from '../ui/ButtonLink.module.css';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { classNames } from '../ui/classNames.ts';
import { SetRunner } from './run/SetRunner.tsx';

/** A set: run it, and view its runs. */
export function SetPage({ id }: { readonly id: string }) {
  const words = strings.sets;
  const { data: set, error, refetch } = useQuery(setQuery(id));
  if (isSetNotFound(error)) {
    return (
      <Page title={words.title}>
        <EmptyState
          icon="search"
          title={words.notFoundTitle}
          actions={<Link href="/sets">{words.back}</Link>}
        >
          {words.notFoundText}
        </EmptyState>
      </Page>
    );
  }
  if (set && !isForbidden(error)) return <SetDetails key={id} set={set} />;
  return (
    <Page title={words.title}>
      {error === null ? <Skeleton lines={8} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function SetDetails({ set }: { readonly set: SetView }) {
  return (
    <Page title={set.title} lead={set.description} actions={<SetActions set={set} />}>
      <p className={page['back']}>
        <Link href="/sets">{strings.sets.back}</Link>
      </p>
      <SetRunner set={set} />
    </Page>
  );
}

/** Actions on the set besides running it. */
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
