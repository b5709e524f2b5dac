import type { ApiKeyView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteKey, keysQuery } from '../api/account.ts';
import { useFocusAfterRemoval } from '../hooks/useFocusAfterRemoval.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/toasts.ts';
import { ApiKeyRow } from './ApiKeyRow.tsx';
import { CreateKeyDialog } from './CreateKeyDialog.tsx';
import { SettingsSection } from './SettingsSection.tsx';

/** Keys with which programs act for the person who is signed in. */
export function ApiKeysSection({ isAdmin }: { readonly isAdmin: boolean }) {
  const { keys } = strings.settings;
  const { data, error, refetch } = useQuery(keysQuery);
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ApiKeyView | null>(null);
  const createButton = useFocusAfterRemoval<HTMLButtonElement>(data?.length ?? 0);
  return (
    <SettingsSection
      title={keys.title}
      lead={keys.lead}
      actions={
        <Button ref={createButton} icon={<Icon name="plus" />} onClick={() => setCreating(true)}>
          {keys.create}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={3} />}
      {data?.length === 0 && <p>{keys.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((key) => (
            <ApiKeyRow key={key.id} apiKey={key} onDelete={() => setDeleting(key)} />
          ))}
        </ul>
      )}
      {isCreating && <CreateKeyDialog isAdmin={isAdmin} onClose={() => setCreating(false)} />}
      {deleting && <DeleteKeyDialog apiKey={deleting} onClose={() => setDeleting(null)} />}
    </SettingsSection>
  );
}

function DeleteKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKeyView; readonly onClose: () => void }) {
  const { keys } = strings.settings;
  const queryClient = useQueryClient();
  const deleteMutation = useMutation({
    mutationFn: () => deleteKey(apiKey.id),
    onSuccess: () => {
      queryClient.setQueryData(keysQuery.queryKey, (all) => all?.filter(({ id }) => id !== apiKey.id));
      showToast('success', keys.deleted(apiKey.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={keys.deleteTitle(apiKey.name)}
      confirm={strings.common.delete}
      isBusy={deleteMutation.isPending}
      error={deleteMutation.error}
      onConfirm={() => deleteMutation.mutate()}
      onClose={onClose}
    >
      {keys.deleteText}
    </ConfirmDialog>
  );
}
