import type { DiscoverToolsView } from '@behalf/contracts';
import { useState } from 'react';
import { Name } from '../../call/Name.tsx';
import { visibleText } from '../../call/visibleText.ts';
import { ConnectButtons } from '../../connect/ConnectButtons.tsx';
import { connectText } from '../../connect/connectText.ts';
import { ScopeList } from '../../connect/ScopeList.tsx';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import dialog from '../form/ServerDialog.module.css';
import { useFirst } from '../useFirst.ts';
import { KeyForm } from './KeyForm.tsx';
import styles from './LookOutcome.module.css';
import type { Discovery, Look } from './useDiscovery.ts';

interface OutcomeProps {
  readonly look: Look;
  readonly discovery: Discovery;
  /** On to the details although its tools were not seen. */
  readonly onDetails: () => void;
}

/** What a server answered, and what to do next. */
export function LookOutcome(props: OutcomeProps) {
  const words = strings.servers.adding;
  const { look, discovery } = props;
  const { view, auth } = look;
  switch (view.outcome) {
    case 'tools':
      return <FoundTools view={view} />;
    case 'authorization_required':
      return <SignIn {...props} />;
    case 'credential_rejected':
      return view.hint === 'key' || auth.type === 'key' ? (
        <>
          <Notice tone="danger" {...{ title: words.hints[view.hint].title }}>
            {words.hints[view.hint].text}
          </Notice>
          <KeyForm discovery={discovery} first={auth} />
        </>
      ) : (
        <Rejected {...props} view={view} />
      );
    case 'no_oauth_metadata':
      return (
        <>
          <Notice tone="info" title={words.keyTitle}>
            <p>{words.problems[view.reason]}</p>
          </Notice>
          <KeyForm discovery={discovery} first={auth} />
        </>
      );
  }
}

const STEP = 50;

function FoundTools({ view }: { readonly view: Extract<DiscoverToolsView, { outcome: 'tools' }> }) {
  const words = strings.servers.adding;
  const { tools, incomplete = false } = view;
  const { shown, next, showMore } = useFirst(tools, STEP);
  if (tools.length === 0) return <Notice tone="warning" title={words.noTools} />;
  return (
    <>
      <Notice tone="success" title={words.toolsTitle(tools.length)}>
        {incomplete && <p>{words.more}</p>}
        <p>{words.toolsText}</p>
      </Notice>
      <ul className={styles['tools']} aria-label={words.toolsList} tabIndex={0}>
        {shown.map(({ name, title, description }) => (
          <li key={name}>
            <p className={styles['name']}>
              {title !== undefined && title !== name && <bdi>{visibleText(title)}</bdi>} <Name name={name} />
            </p>
            {description !== '' && <p className={styles['description']}>{description}</p>}
          </li>
        ))}
      </ul>
      {next > 0 && <Button onClick={showMore}>{strings.servers.showMore(next)}</Button>}
    </>
  );
}

function SignIn({ discovery: { connect, signIn, leave } }: OutcomeProps) {
  const words = strings.servers.adding;
  const told = connectText(connect.state);
  return (
    <Notice
      tone={told?.tone ?? 'info'}
      title={told?.title ?? words.signInTitle}
      actions={<ConnectButtons connect={connect} label={words.signIn} onBegin={signIn} onLeave={leave} />}
    >
      {told?.text || words.signInText}
    </Notice>
  );
}

function Rejected({
  view,
  discovery,
  onDetails,
}: OutcomeProps & { readonly view: Extract<DiscoverToolsView, { outcome: 'credential_rejected' }> }) {
  const words = strings.servers.adding;
  const [wantsKey, setWantsKey] = useState(false);
  const { hint, resource, scopes, wantedScopes } = view;
  const { title, text } = words.hints[hint];
  return (
    <>
      <Notice
        tone="danger"
        title={title}
        actions={
          <>
            <Button size="small" onClick={() => discovery.ask({ type: 'none' })}>
              {words.again}
            </Button>
            {!wantsKey && (
              <Button size="small" onClick={() => setWantsKey(true)}>
                {words.enterKey}
              </Button>
            )}
            <Button size="small" onClick={onDetails}>
              {words.details}
            </Button>
          </>
        }
      >
        <p>{text}</p>
        {resource !== undefined && (
          <p>
            {words.tokenFor} <Name name={resource} />
          </p>
        )}
        {scopes !== undefined && scopes !== '' && (
          <div>
            {words.tokenReaches} <ScopeList scopes={scopes} />
          </div>
        )}
        {wantedScopes !== undefined && wantedScopes !== '' && (
          <div>
            {words.serverWants} <ScopeList scopes={wantedScopes} />
          </div>
        )}
      </Notice>
      {wantsKey && (
        <div className={dialog['fields']}>
          <KeyForm discovery={discovery} first={undefined} />
        </div>
      )}
    </>
  );
}
