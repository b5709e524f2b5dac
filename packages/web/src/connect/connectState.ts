import type { FlowError, FlowStatusView } from '@behalf/contracts';
import { explainError } from '../api/explain.ts';
import { strings } from '../strings/strings.ts';
import type { Tone } from '../ui/Badge.tsx';

/** Whether a server took the new token when it was tried. */
export type ConnectProbe = NonNullable<FlowStatusView['probe']>;

/** How the sign-in of this page at one server stands. */
export type ConnectState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'waiting';
      /** Where it goes on: an address of ours. */
      readonly address: string;
      /** `blocked`: the browser opened none. `away`: it is closed, or belongs to another site by now. */
      readonly window: 'open' | 'blocked' | 'away';
      readonly isCanceling?: boolean;
    }
  | { readonly kind: 'connected'; readonly at: number; readonly probe?: ConnectProbe }
  /** It was begun and did not succeed. */
  | { readonly kind: 'failed'; readonly error: FlowError }
  /** The gateway did not begin it, or says nothing of it any more. */
  | { readonly kind: 'refused'; readonly error: unknown };

/** Whether it goes on by itself. */
export function isInProgress({ kind }: ConnectState): boolean {
  return kind === 'starting' || kind === 'waiting';
}

/** What is said of a sign-in while it goes on, and of how it ended. */
interface ConnectText {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Undefined where there is nothing to say yet. */
export function describeConnectState(state: ConnectState): ConnectText | undefined {
  const words = strings.connect;
  switch (state.kind) {
    case 'idle':
      return undefined;
    case 'starting':
      return { tone: 'info', title: words.starting, text: '' };
    case 'waiting':
      if (state.window === 'blocked')
        return { tone: 'warning', title: words.blockedTitle, text: words.blockedText };
      return {
        tone: 'info',
        title: words.waitingTitle,
        text: state.window === 'away' ? `${words.waitingText} ${words.windowClosed}` : words.waitingText,
      };
    case 'connected':
      return {
        tone: state.probe === 'unreachable' ? 'warning' : 'success',
        title: words.connectedTitle,
        text: state.probe ? words.probes[state.probe] : '',
      };
    case 'failed':
      return { tone: 'danger', ...flowErrorText(state.error) };
    case 'refused':
      return { tone: 'danger', ...explainError(state.error) };
  }
}

/** A gateway that is newer than this page may have a word that it does not know. */
function flowErrorText(error: string): { readonly title: string; readonly text: string } {
  const { errors } = strings.connect;
  return Object.hasOwn(errors, error) ? errors[error as FlowError] : errors.callback_failed;
}

/** Why a sign-in is needed; nothing for a reason that has no words yet. */
export function describeSignInReason(reason: string): string {
  const { reasons } = strings.connect;
  return (Object.hasOwn(reasons, reason) && reasons[reason]) || '';
}
