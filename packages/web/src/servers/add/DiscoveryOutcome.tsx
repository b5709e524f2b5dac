import type { DiscoverToolsView } from '@behalf/contracts';
import { useState } from 'react';
import { IdText } from '../../ui/Identity.tsx';
import { escapeInvisible } from '../../ui/escapeInvisible.ts';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { describeConnectState } from '../../connect/connectState.ts';
import { ScopeList } from '../../connect/ScopeList.tsx';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import dialog from '../form/ServerDialog.module.css';
import { usePagedItems } from '../../ui/LongList.tsx';
import { KeyForm } from './KeyForm.tsx';
import styles from './DiscoveryOutcome.module.css';
import type { DiscoveryState, DiscoveryResult } from './useDiscovery.ts';

interface OutcomeProps {
  readonly result: DiscoveryResult;
  readonly discovery: DiscoveryState;
  /** Continues without having seen the tools. */
  readonly onDetails: () => void;
}

/** The result of the discovery, and the next step. */
export function DiscoveryOutcome(props: OutcomeProps) {
  const words = strings.servers.addDialog;
  const { result, discovery } = props;
  const { view, auth } = result;
  switch (view.outcome) {
    case 'tools':
      return <FoundTools view={view} />;
    case 'authorization_required':
      return <SignInNotice {...props} />;
    case 'credential_rejected':
      return view.hint === 'key' || auth.type === 'key' ? (
        <>
          <Notice tone="danger" {...{ title: words.hints[view.hint].title }}>
            {words.hints[view.hint].text}
          </Notice>
          <KeyForm discovery={discovery} previousAuth={auth} />
        </>
      ) : (
        <RejectedNotice {...props} view={view} />
      );
    case 'no_oauth_metadata':
      return (
        <>
          <Notice tone="info" title={words.keyTitle}>
            <p>{words.problems[view.reason]}</p>
          </Notice>
          <KeyForm discovery={discovery} previousAuth={auth} />
        </>
      );
  }
}

const PAGE_SIZE = 50;

function FoundTools({ view }: { readonly view: Extract<DiscoverToolsView, { outcome: 'tools' }> }) {
  const words = strings.servers.addDialog;
  const { tools, incomplete = false } = view;
  const { shown, nextCount, showMore } = usePagedItems(tools, PAGE_SIZE);
  if (tools.length === 0) return <Notice tone="warning" title={words.noTools} />;
  return (
    <>
      <Notice tone="success" title={words.toolsTitle(tools.length)}>
        {incomplete && <p>{words.moreTools}</p>}
        <p>{words.toolsText}</p>
      </Notice>
      <ul className={styles['tools']} aria-label={words.toolsList} tabIndex={0}>
        {shown.map(({ name, title, description }) => (
          <li key={name}>
            <p className={styles['name']}>
              {title !== undefined && title !== name && <bdi>{escapeInvisible(title)}</bdi>}{' '}
              <IdText name={name} />
            </p>
            {description !== '' && <p className={styles['description']}>{description}</p>}
          </li>
        ))}
      </ul>
      {nextCount > 0 && <Button onClick={showMore}>{strings.servers.showMore(nextCount)}</Button>}
    </>
  );
}

function SignInNotice({ discovery: { connect, signIn, saveForReturn } }: OutcomeProps) {
  const words = strings.servers.addDialog;
  const text = describeConnectState(connect.state);
  return (
    <Notice
      tone={text?.tone ?? 'info'}
      title={text?.title ?? words.signInTitle}
      actions={
        <ConnectButtons connect={connect} label={words.signIn} onBegin={signIn} onLeave={saveForReturn} />
      }
    >
      {text?.text || words.signInText}
    </Notice>
  );
}

function RejectedNotice({
  view,
  discovery,
  onDetails,
}: OutcomeProps & { readonly view: Extract<DiscoverToolsView, { outcome: 'credential_rejected' }> }) {
  const words = strings.servers.addDialog;
  const [showsKeyForm, setShowsKeyForm] = useState(false);
  const { hint, resource, scopes, wantedScopes } = view;
  const { title, text } = words.hints[hint];
  return (
    <>
      <Notice
        tone="danger"
        title={title}
        actions={
          <>
            <Button size="small" onClick={() => discovery.discover({ type: 'none' })}>
              {words.signInAgain}
            </Button>
            {!showsKeyForm && (
              <Button size="small" onClick={() => setShowsKeyForm(true)}>
                {words.enterKey}
              </Button>
            )}
            <Button size="small" onClick={onDetails}>
              {words.editDetails}
            </Button>
          </>
        }
      >
        <p>{text}</p>
        {resource !== undefined && (
          <p>
            {words.tokenAudience} <IdText name={resource} />
          </p>
        )}
        {scopes !== undefined && scopes !== '' && (
          <div>
            {words.tokenScopes} <ScopeList scopes={scopes} />
          </div>
        )}
        {wantedScopes !== undefined && wantedScopes !== '' && (
          <div>
            {words.requiredScopes} <ScopeList scopes={wantedScopes} />
          </div>
        )}
      </Notice>
      {showsKeyForm && (
        <div className={dialog['fields']}>
          <KeyForm discovery={discovery} previousAuth={undefined} />
        </div>
      )}
    </>
  );
}
