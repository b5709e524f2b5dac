import type { CredentialView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { credentialsQuery } from '../../api/credentials.ts';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { isUnderWay } from '../../connect/connectState.ts';
import { connectText } from '../../connect/connectText.ts';
import { useConnect, type Connect } from '../../connect/useConnect.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { BringToken } from './BringToken.tsx';
import { ConnectAnother } from './ConnectAnother.tsx';
import { CredentialRow } from './CredentialRow.tsx';
import styles from './credentials.module.css';

/** Where a user signs in at a server, and what they have stored of that. */
export function SignInCard({ server }: { readonly server: string }) {
  const words = strings.credentials;
  const connect = useConnect(server);
  const { data: stored, error, refetch } = useQuery(credentialsQuery(server));
  return (
    <Card className={styles['card']} aria-label={words.title}>
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      {error !== null && !stored && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!stored && error === null && <Skeleton lines={3} />}
      {stored && <Stored stored={stored} connect={connect} />}
      <Connecting connect={connect} isFirst={stored?.length === 0} />
      {stored && stored.length > 0 && <Another stored={stored} connect={connect} />}
      <BringToken server={server} />
    </Card>
  );
}

function Stored({
  stored,
  connect,
}: {
  readonly stored: readonly CredentialView[];
  readonly connect: Connect;
}) {
  const words = strings.credentials;
  if (stored.length === 0) return <p className={styles['muted']}>{words.none}</p>;
  return (
    <ul className={styles['rows']} aria-label={words.listTitle}>
      {stored.map((view) => (
        <CredentialRow
          key={view.id}
          view={view}
          isOnly={stored.length === 1}
          onConnect={isUnderWay(connect.state) ? undefined : () => void connect.begin({ label: view.label })}
        />
      ))}
    </ul>
  );
}

/** How the sign-in of this page goes; before it was begun, the button that begins the first one. */
function Connecting({ connect, isFirst }: { readonly connect: Connect; readonly isFirst: boolean }) {
  const [shownAt] = useState(() => Date.now());
  const { state, dismiss } = connect;
  const isOver = state.kind === 'connected';
  const told = isOver && state.at < shownAt ? undefined : connectText(state);
  return (
    <>
      {told && (
        <Notice
          tone={told.tone}
          title={told.title}
          actions={isOver ? <Dismiss onClick={dismiss} /> : undefined}
        >
          {told.text}
        </Notice>
      )}
      {(told ? !isOver : isFirst) && (
        <div className={styles['actions']}>
          <ConnectButtons connect={connect} size="normal" />
        </div>
      )}
    </>
  );
}

/** It takes the place of the button that began it all, and so the focus. */
function Dismiss({ onClick }: { readonly onClick: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) button.current?.focus();
  }, []);
  return (
    <Button ref={button} size="small" onClick={onClick}>
      {strings.common.dismiss}
    </Button>
  );
}

function Another({
  stored,
  connect,
}: {
  readonly stored: readonly CredentialView[];
  readonly connect: Connect;
}) {
  const words = strings.credentials;
  const [isOpen, setOpen] = useState(false);
  if (isUnderWay(connect.state)) return null;
  return (
    <div className={styles['actions']}>
      <Button onClick={() => setOpen(true)}>{words.another}</Button>
      {isOpen && (
        <ConnectAnother
          taken={stored.map(({ label }) => label)}
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
