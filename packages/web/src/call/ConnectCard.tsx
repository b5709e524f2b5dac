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
  /** Path to which the sign-in returns if the browser leaves the page. */
  readonly returnTo: string;
  /** Text that says how the call continues after the sign-in. */
  readonly nextStepText: string;
  /** Further buttons. `isConnected`: the user connected the server after the card appeared. */
  readonly children?: (isConnected: boolean) => ReactNode;
  /** Starts the sign-in with the options that this call requires. */
  readonly onStart: (options: ConnectOptions) => unknown;
  /** Called before the browser leaves the page for the sign-in. */
  readonly onBeforeLeave?: () => void;
}

/** Card of a call that requires a sign-in: the server, the reason and the next step. */
export function ConnectCard(props: ConnectCardProps) {
  const target = signInLocation(props.connect.connectUrl, location.origin);
  return target === 'server' ? <ServerSignIn {...props} /> : <GatewaySignIn {...props} />;
}

/** Sign-in at the server in a pop-up window. */
function ServerSignIn({ connect: need, nextStepText, children, onStart, onBeforeLeave }: ConnectCardProps) {
  const words = strings.connect;
  const connect = useConnect(need.server);
  const [mountedAt] = useState(() => Date.now());
  const { state } = connect;
  const isConnected = state.kind === 'connected' && state.at >= mountedAt;
  // A sign-in that succeeded before the card appeared does not meet this requirement.
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

/** Requests additional scopes if the token lacks them. Otherwise the server's default scopes apply. */
function toConnectOptions({ reason, scopes }: ConnectNeeded): ConnectOptions {
  return reason === 'insufficient_scope' && scopes !== undefined ? { scopes } : {};
}

/** Sign-in at Behalf's identity provider, which leaves the page, or a link to the server page. */
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
