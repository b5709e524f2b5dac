import { useRef } from 'react';
import { saveHash } from '../app/userSession.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { ButtonLink } from '../ui/ButtonLink.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Spinner } from '../ui/Spinner.tsx';
import { type ConnectState, describeConnectState } from './connectState.ts';
import type { ConnectHandle } from './pageConnectControllers.ts';

/** Buttons for the state of a sign-in. The first button is never replaced, so that it keeps the focus. */
export function ConnectButtons({
  connect: { state, begin, reopen, cancel },
  label = strings.connect.connect,
  size = 'small',
  onBegin = () => begin(),
  onLeave,
}: {
  readonly connect: ConnectHandle;
  /** Label of the button before the sign-in starts. */
  readonly label?: string;
  readonly size?: 'small' | 'normal';
  /** Replaces `begin`. */
  readonly onBegin?: (() => unknown) | undefined;
  /** Called before the browser leaves this page for the sign-in. */
  readonly onLeave?: (() => void) | undefined;
}) {
  const words = strings.connect;
  const mainButtonRef = useRef<HTMLButtonElement>(null);
  const isStarting = state.kind === 'starting';
  const isWaiting = state.kind === 'waiting';
  const isCanceling = isWaiting && state.isCanceling === true;

  function handlePress(): void {
    if (isStarting || isCanceling) return;
    if (isWaiting) reopen();
    else void onBegin();
  }

  return (
    <>
      <Button
        ref={mainButtonRef}
        size={size}
        variant={isWaiting ? 'plain' : 'primary'}
        aria-disabled={isStarting || isCanceling}
        aria-busy={isStarting}
        icon={isStarting ? <Spinner /> : <Icon name="external" size={16} />}
        onClick={handlePress}
      >
        {mainLabel(state, label)}
      </Button>
      {isWaiting && state.window === 'blocked' && (
        <ButtonLink
          href={state.address}
          onClick={() => {
            onLeave?.();
            saveHash();
          }}
        >
          {words.continueHere}
        </ButtonLink>
      )}
      {(isStarting || isWaiting) && (
        <Button
          size={size}
          aria-disabled={isCanceling}
          onClick={() => {
            cancel();
            // The cancel button disappears, so the focus moves.
            mainButtonRef.current?.focus();
          }}
        >
          {isCanceling ? words.canceling : words.cancel}
        </Button>
      )}
    </>
  );
}

function mainLabel(state: ConnectState, label: string): string {
  const words = strings.connect;
  if (state.kind === 'starting') return words.starting;
  if (state.kind === 'waiting') return words.reopen;
  return state.kind === 'failed' || state.kind === 'refused' ? words.connectAgain : label;
}

/** Status of a sign-in inside another notice. Empty before the sign-in starts and after it succeeds. */
export function ConnectStatus({ connect: { state } }: { readonly connect: ConnectHandle }) {
  const text = state.kind === 'connected' ? undefined : describeConnectState(state);
  if (!text) return null;
  return (
    <p role="status">
      <strong>{text.title}</strong> {text.text}
    </p>
  );
}
