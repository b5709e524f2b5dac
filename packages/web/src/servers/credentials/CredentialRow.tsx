import type { CredentialView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteCredential, setDefaultCredential } from '../../api/credentials.ts';
import { invalidateServers } from '../../api/servers.ts';
import { ScopeList } from '../../connect/ScopeList.tsx';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { showError, showToast } from '../../ui/Toasts.tsx';
import { escapeInvisible } from '../../ui/escapeInvisible.ts';
import { formatAgo, formatDateTime } from '../../ui/format.ts';
import { credentialName, describeCredential, describeDisconnect } from './credentialState.ts';
import styles from './credentials.module.css';

/** One of the user's credentials at a server: its state and actions. */
export function CredentialRow({
  view,
  isOnlyCredential,
  onConnect,
}: {
  readonly view: CredentialView;
  readonly isOnlyCredential: boolean;
  /** Starts a sign-in that replaces the credential; undefined if that is not possible now. */
  readonly onConnect: (() => void) | undefined;
}) {
  const words = strings.credentials;
  const [isConfirming, setConfirming] = useState(false);
  const { server, label, kind, isDefault } = view;
  const name = escapeInvisible(credentialName(label));
  const { tone, badge, text, needsSignIn } = describeCredential(view);
  return (
    <li className={styles['row']}>
      <div className={styles['head']}>
        <strong className={styles['name']}>
          <bdi>{name}</bdi>
        </strong>
        <Badge tone={tone}>{badge}</Badge>
        <Badge>{words.kinds[kind]}</Badge>
        {isDefault && !isOnlyCredential && <Badge tone="info">{words.defaultBadge}</Badge>}
      </div>
      <p>{text}</p>
      <Details view={view} />
      <div className={styles['actions']}>
        {needsSignIn && onConnect && kind === 'oauth_code' && (
          <Button size="small" variant="primary" onClick={onConnect}>
            {strings.connect.connectAgain}
          </Button>
        )}
        {!isDefault && <MakeDefaultButton server={server} label={label} name={name} />}
        <Button size="small" aria-label={words.disconnectOf(name)} onClick={() => setConfirming(true)}>
          {words.disconnect}
        </Button>
      </div>
      {isConfirming && (
        <DisconnectDialog server={server} label={label} onClose={() => setConfirming(false)} />
      )}
    </li>
  );
}

function MakeDefaultButton({
  server,
  label,
  name,
}: {
  readonly server: string;
  readonly label: string;
  readonly name: string;
}) {
  const words = strings.credentials;
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => setDefaultCredential(server, label),
    onSuccess: () => {
      showToast('success', words.madeDefault(name));
      return invalidateServers(queryClient);
    },
    onError: showError,
  });
  return (
    <Button size="small" isBusy={isPending} aria-label={words.makeDefaultOf(name)} onClick={() => mutate()}>
      {words.makeDefault}
    </Button>
  );
}

function Details({
  view: { issuer, scopes, fingerprint, lastUsedAt, createdAt },
}: {
  readonly view: CredentialView;
}) {
  const words = strings.credentials;
  const facts = [
    { name: words.issuer, value: issuer, isCode: true, isShown: issuer !== '' },
    { name: words.scopes, value: <ScopeList scopes={scopes} />, isShown: scopes.trim() !== '' },
    { name: words.fingerprint, value: fingerprint, isCode: true, isShown: fingerprint !== null },
    { name: words.added, value: formatDateTime(createdAt), isShown: true },
    {
      name: words.lastUsed,
      value: lastUsedAt === null ? words.neverUsed : formatAgo(lastUsedAt),
      isShown: true,
    },
  ];
  return (
    <details className={styles['details']}>
      <summary>{words.details}</summary>
      <Facts facts={facts.filter(({ isShown }) => isShown)} />
    </details>
  );
}

/** Confirms disconnecting, and reports whether the tokens were revoked. */
function DisconnectDialog({
  server,
  label,
  onClose,
}: {
  readonly server: string;
  readonly label: string;
  readonly onClose: () => void;
}) {
  const words = strings.credentials;
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteCredential(server, label),
    onSuccess: (view) => {
      const { tone, title, text } = describeDisconnect(view);
      showToast(tone, title, text);
      onClose();
      return invalidateServers(queryClient);
    },
  });
  return (
    <ConfirmDialog
      title={words.disconnectTitle(credentialName(label))}
      confirm={words.disconnect}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {words.disconnectText}
    </ConfirmDialog>
  );
}
