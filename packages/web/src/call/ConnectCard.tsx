import type { ConnectNeeded } from '@behalf/contracts';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { ConnectButtons } from '../connect/ConnectButtons.tsx';
import type { ConnectOptions } from '../connect/connectController.ts';
import { describeConnectState, describeSignInReason } from '../connect/connectState.ts';
import { ScopeList } from '../connect/ScopeList.tsx';
import { buildSignInUrl, signInLocation } from '../connect/signInUrl.ts';
import { useConnect } from '../connect/pageConnectControllers.ts';
import { strings } from '../strings/strings.ts';
import buttons from '../ui/Button.module.css';
import { classNames } from '../ui/classNames.ts';
import { Notice } from '../ui/Notice.tsx';
import { ServerIdentity } from '../ui/Identity.tsx';
import { escapeInvisible } from '../ui/escapeInvisible.ts';

interface ConnectCardProps {
  readonly connect: ConnectNeeded;
  /** The path to come back to, for who has to leave the page. */
  readonly returnTo: string;
  /** What happens once they have signed in. */
  readonly nextStepText: string;
  /** Further buttons. `isConnected`: it was connected since this was shown. */
  readonly children?: (isConnected: boolean) => ReactNode;
  /** Begins the sign-in, with what this call wants of it. */
  readonly onStart: (options: ConnectOptions) => unknown;
  /** Before the page is left for the sign-in. */
  readonly onBeforeLeave?: () => void;
}

/** A call that could not be made because its user has to sign in first: where, why, and how it goes on. */
export function ConnectCard(props: ConnectCardProps) {
  const target = signInLocation(props.connect.connectUrl, location.origin);
  return target === 'server' ? <ServerSignIn {...props} /> : <GatewaySignIn {...props} />;
}

/** In a window beside this page. */
function ServerSignIn({ connect: need, nextStepText, children, onStart, onBeforeLeave }: ConnectCardProps) {
  const words = strings.connect;
  const connect = useConnect(need.server);
  const [mountedAt] = useState(() => Date.now());
  const { state } = connect;
  const isConnected = state.kind === 'connected' && state.at >= mountedAt;
  // One that succeeded before this was needed says nothing about it.
  const stateText = state.kind === 'connected' && !isConnected ? undefined : describeConnectState(state);
  return (
    <Notice
      tone={stateText?.tone ?? 'warning'}
      title={stateText?.title ?? words.signInTitle(escapeInvisible(need.title))}
      actions={
        <>
          {!isConnected && (
            <ConnectButtons
              connect={connect}
              onBegin={() => onStart(toConnectOptions(need))}
              onLeave={onBeforeLeave}
            />
          )}
          {children?.(isConnected)}
        </>
      }
    >
      {stateText && <p>{stateText.text}</p>}
      <NeedDetails need={need} />
      {!stateText && <p>{nextStepText}</p>}
    </Notice>
  );
}

/** A sign-in that is there and does not reach far enough is widened; any other asks for what the server names. */
function toConnectOptions({ reason, scopes }: ConnectNeeded): ConnectOptions {
  return reason === 'insufficient_scope' && scopes !== undefined ? { scopes } : {};
}

/** At our own identity provider, which leaves the page; or nowhere from here. */
function GatewaySignIn({ connect: need, returnTo, children }: ConnectCardProps) {
  const words = strings.connect;
  const signInUrl = buildSignInUrl(need.connectUrl, returnTo, location.origin);
  const linkClass = classNames(buttons['button'], buttons['small']);
  return (
    <Notice
      tone="warning"
      title={words.signInTitle(escapeInvisible(need.title))}
      actions={
        <>
          {signInUrl === undefined ? (
            <Link href={`/servers/${encodeSegment(need.server)}`} className={linkClass}>
              {strings.call.openServer}
            </Link>
          ) : (
            <a href={signInUrl} className={classNames(linkClass, buttons['primary'])}>
              {words.signIn}
            </a>
          )}
          {children?.(false)}
        </>
      }
    >
      <NeedDetails need={need} />
      <p>{signInUrl === undefined ? words.unavailable : words.returnHint}</p>
    </Notice>
  );
}

function NeedDetails({ need: { server, title, reason, scopes } }: { readonly need: ConnectNeeded }) {
  return (
    <>
      <p>
        <ServerIdentity server={server} title={title} />
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
