import type { ApiKeyView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteKey, keysQuery } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { Badge, type Tone } from '../ui/Badge.tsx';
import { Button, IconButton } from '../ui/Button.tsx';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { useFocusAfterRemoval } from '../ui/focus.ts';
import { formatAgo, formatDateTime } from '../ui/format.ts';
import styles from './ApiKeyRow.module.css';
import { CreateKeyDialog } from './CreateKeyDialog.tsx';
import { SettingsSection } from './SettingsSection.tsx';
import { type KeyExpiry, keyExpiry } from './keyExpiry.ts';

/** API keys of the signed-in user. */
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

const expiryTones: Readonly<Record<KeyExpiry, Tone>> = {
  expired: 'danger',
  expiring: 'warning',
  good: 'neutral',
};

function ApiKeyRow({ apiKey, onDelete }: { readonly apiKey: ApiKeyView; readonly onDelete: () => void }) {
  const { keys } = strings.settings;
  const { name, hint, scopes, expiresAt, lastUsedAt } = apiKey;
  const [now] = useState(Date.now);
  const expiry = keyExpiry(expiresAt, now);
  return (
    <li className={styles['row']}>
      <div className={styles['what']}>
        <p className={styles['name']}>
          {name} <code>{keys.hint(hint)}</code>
        </p>
        <p className={styles['facts']}>
          {scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
          <span>{lastUsedAt === null ? keys.neverUsed : keys.lastUsed(formatAgo(lastUsedAt))}</span>
          {expiry === 'good' ? (
            <span>{keys.expiryTexts.good(formatDateTime(expiresAt))}</span>
          ) : (
            <Badge tone={expiryTones[expiry]}>{keys.expiryTexts[expiry](formatDateTime(expiresAt))}</Badge>
          )}
        </p>
      </div>
      <IconButton label={keys.delete(name)} icon={<Icon name="trash" />} onClick={onDelete} />
    </li>
  );
}
