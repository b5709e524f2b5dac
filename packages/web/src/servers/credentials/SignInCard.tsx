import type { CredentialView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { credentialsQuery } from '../../api/credentials.ts';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { describeConnectState, isInProgress } from '../../connect/connectState.ts';
import { type ConnectHandle, useConnect } from '../../connect/pageConnectControllers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { CredentialRow } from './CredentialRow.tsx';
import { ImportToken } from './ImportToken.tsx';
import styles from './credentials.module.css';

/** The user's sign-in and credentials at a server. */
export function SignInCard({ server }: { readonly server: string }) {
  const words = strings.credentials;
  const connect = useConnect(server);
  const { data: credentials, error, refetch } = useQuery(credentialsQuery(server));
  return (
    <Card className={styles['card']} aria-label={words.title}>
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      {error !== null && !credentials && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!credentials && error === null && <Skeleton lines={3} />}
      {credentials && <StoredCredentials credentials={credentials} connect={connect} />}
      <ConnectProgress connect={connect} hasNoCredentials={credentials?.length === 0} />
      {credentials && credentials.length > 0 && (
        <ConnectAnotherAccount credentials={credentials} connect={connect} />
      )}
      <ImportToken server={server} />
    </Card>
  );
}

function StoredCredentials({
  credentials,
  connect,
}: {
  readonly credentials: readonly CredentialView[];
  readonly connect: ConnectHandle;
}) {
  const words = strings.credentials;
  if (credentials.length === 0) return <p className={styles['muted']}>{words.none}</p>;
  return (
    <ul className={styles['rows']} aria-label={words.listTitle}>
      {credentials.map((view) => (
        <CredentialRow
          key={view.id}
          view={view}
          isOnlyCredential={credentials.length === 1}
          onConnect={
            isInProgress(connect.state) ? undefined : () => void connect.begin({ label: view.label })
          }
        />
      ))}
    </ul>
  );
}

/** The progress of the sign-in, or the button that starts the first one. */
function ConnectProgress({
  connect,
  hasNoCredentials,
}: {
  readonly connect: ConnectHandle;
  readonly hasNoCredentials: boolean;
}) {
  const [mountedAt] = useState(() => Date.now());
  const { state, dismiss } = connect;
  const isConnected = state.kind === 'connected';
  const connectText = isConnected && state.at < mountedAt ? undefined : describeConnectState(state);
  return (
    <>
      {connectText && (
        <Notice
          tone={connectText.tone}
          title={connectText.title}
          actions={isConnected ? <DismissButton onClick={dismiss} /> : undefined}
        >
          {connectText.text}
        </Notice>
      )}
      {(connectText ? !isConnected : hasNoCredentials) && (
        <div className={styles['actions']}>
          <ConnectButtons connect={connect} size="normal" />
        </div>
      )}
    </>
  );
}

/** Replaces the button that started the sign-in, and receives its focus. */
function DismissButton({ onClick }: { readonly onClick: () => void }) {
  const buttonRef = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) buttonRef.current?.focus();
  }, []);
  return (
    <Button ref={buttonRef} size="small" onClick={onClick}>
      {strings.common.dismiss}
    </Button>
  );
}

function ConnectAnotherAccount({
  credentials,
  connect,
}: {
  readonly credentials: readonly CredentialView[];
  readonly connect: ConnectHandle;
}) {
  const words = strings.credentials;
  const [isOpen, setOpen] = useState(false);
  if (isInProgress(connect.state)) return null;
  return (
    <div className={styles['actions']}>
      <Button onClick={() => setOpen(true)}>{words.connectAnother}</Button>
      {isOpen && (
        <ConnectAnotherDialog
          existingLabels={credentials.map(({ label }) => label)}
          onConnect={(label) => {
            void connect.begin({ label });
            setOpen(false);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

/** Asks for the name of an additional account. The submit button opens the sign-in window. */
function ConnectAnotherDialog({
  existingLabels,
  onConnect,
  onClose,
}: {
  readonly existingLabels: readonly string[];
  readonly onConnect: (label: string) => void;
  readonly onClose: () => void;
}) {
  const words = strings.credentials;
  const [label, setLabel] = useState('');
  const [error, setError] = useState<string>();

  function submit(): void {
    const newLabel = label.trim();
    if (newLabel === '') setError(words.labelMissing);
    else if (existingLabels.includes(newLabel)) setError(words.labelTaken);
    else onConnect(newLabel);
  }

  return (
    <Dialog
      title={words.anotherTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" variant="primary">
            {strings.connect.connect}
          </Button>
        </>
      }
    >
      <p>{words.anotherText}</p>
      <TextField
        label={words.label}
        hint={words.labelHint}
        isRequired
        autoComplete="off"
        maxLength={64}
        value={label}
        error={error}
        onChange={({ target }) => {
          setLabel(target.value);
          setError(undefined);
        }}
      />
    </Dialog>
  );
}
