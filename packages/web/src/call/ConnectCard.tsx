import type { ConnectNeeded } from '@behalf/contracts';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { ConnectButtons } from '../connect/ConnectButtons.tsx';
import type { ConnectOptions } from '../connect/connectController.ts';
import { describeConnectState, describeSignInReason } from '../connect/connectText.ts';
import { ScopeList } from '../connect/ScopeList.tsx';
import { signInLocation } from '../connect/signInLocation.ts';
import { useConnect } from '../connect/useConnect.ts';
import { strings } from '../strings/strings.ts';
import buttons from '../ui/Button.module.css';
import { classNames } from '../ui/classNames.ts';
import { Notice } from '../ui/Notice.tsx';
import { connectAddress } from './connectAddress.ts';
import { ServerName } from './ServerName.tsx';
import { visibleText } from './visibleText.ts';

interface CardProps {
  readonly connect: ConnectNeeded;
  /** The path to come back to, for who has to leave the page. */
  readonly returnTo: string;
  /** What happens once they have signed in. */
  readonly afterwards: string;
  /** Further buttons. `isConnected`: it was connected since this was shown. */
  readonly children?: (isConnected: boolean) => ReactNode;
  /** Begins the sign-in, with what this call wants of it. */
  readonly onBegin: (wanted: ConnectOptions) => unknown;
  /** Before the page is left for the sign-in. */
  readonly onLeave?: () => void;
}

/** A call that could not be made because its user has to sign in first: where, why, and how it goes on. */
export function ConnectCard(props: CardProps) {
  const place = signInLocation(props.connect.connectUrl, location.origin);
  return place === 'server' ? <AtServer {...props} /> : <Elsewhere {...props} />;
}

/** In a window beside this page. */
function AtServer({ connect: needed, afterwards, children, onBegin, onLeave }: CardProps) {
  const words = strings.connect;
  const connect = useConnect(needed.server);
  const [shownAt] = useState(() => Date.now());
  const { state } = connect;
  const isConnected = state.kind === 'connected' && state.at >= shownAt;
  // One that succeeded before this was needed says nothing about it.
  const told = state.kind === 'connected' && !isConnected ? undefined : describeConnectState(state);
  return (
    <Notice
      tone={told?.tone ?? 'warning'}
      title={told?.title ?? words.signInTitle(visibleText(needed.title))}
      actions={
        <>
          {!isConnected && (
            <ConnectButtons connect={connect} onBegin={() => onBegin(wantedBy(needed))} onLeave={onLeave} />
          )}
          {children?.(isConnected)}
        </>
      }
    >
      {told && <p>{told.text}</p>}
      <Needed needed={needed} />
      {!told && <p>{afterwards}</p>}
    </Notice>
  );
}

/** A sign-in that is there and does not reach far enough is widened; any other asks for what the server names. */
function wantedBy({ reason, scopes }: ConnectNeeded): ConnectOptions {
  return reason === 'insufficient_scope' && scopes !== undefined ? { scopes } : {};
}

/** At our own identity provider, which leaves the page; or nowhere from here. */
function Elsewhere({ connect: needed, returnTo, children }: CardProps) {
  const words = strings.connect;
  const address = connectAddress(needed.connectUrl, returnTo, location.origin);
  const look = classNames(buttons['button'], buttons['small']);
  return (
    <Notice
      tone="warning"
      title={words.signInTitle(visibleText(needed.title))}
      actions={
        <>
          {address === undefined ? (
            <Link href={`/servers/${encodeSegment(needed.server)}`} className={look}>
              {strings.call.toServer}
            </Link>
          ) : (
            <a href={address} className={classNames(look, buttons['primary'])}>
              {words.signIn}
            </a>
          )}
          {children?.(false)}
        </>
      }
    >
      <Needed needed={needed} />
      <p>{address === undefined ? words.unavailable : words.returnHint}</p>
    </Notice>
  );
}

function Needed({ needed: { server, title, reason, scopes } }: { readonly needed: ConnectNeeded }) {
  return (
    <>
      <p>
        <ServerName server={server} title={title} />
      </p>
      <p>{describeSignInReason(reason)}</p>
      {scopes !== undefined && scopes.trim() !== '' && (
        <>
          <p>{strings.connect.scopes}</p>
          <ScopeList scopes={scopes} />
        </>
      )}
    </>
  );
}
