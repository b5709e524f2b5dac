import { useRef } from 'react';
import { saveHash } from '../app/userSession.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { ButtonLink } from '../ui/ButtonLink.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Spinner } from '../ui/Spinner.tsx';
import { type ConnectState, describeConnectState } from './connectState.ts';
import type { ConnectHandle } from './pageConnectControllers.ts';

/** What can be done about a sign-in just now. The first button stays the same one, so that nobody loses the focus. */
export function ConnectButtons({
  connect: { state, begin, reopen, cancel },
  label = strings.connect.connect,
  size = 'small',
  onBegin = () => begin(),
  onLeave,
}: {
  readonly connect: ConnectHandle;
  /** What it is called before it was begun. */
  readonly label?: string;
  readonly size?: 'small' | 'normal';
  /** Instead of beginning it alone. */
  readonly onBegin?: (() => unknown) | undefined;
  /** Before this page is left for the sign-in. */
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
            // It goes when there is nothing left to cancel.
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

/** How a sign-in goes, in a notice that says more than that. Nothing before it was begun, or after it succeeded. */
export function ConnectStatus({ connect: { state } }: { readonly connect: ConnectHandle }) {
  const text = state.kind === 'connected' ? undefined : describeConnectState(state);
  if (!text) return null;
  return (
    <p role="status">
      <strong>{text.title}</strong> {text.text}
    </p>
  );
}
