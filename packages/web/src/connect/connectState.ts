import type { FlowError, FlowStatusView } from '@behalf/contracts';
import { explainError } from '../api/explain.ts';
import { strings } from '../strings/strings.ts';
import type { Tone } from '../ui/Badge.tsx';

/** Result of the test request that the gateway sends with the new token. */
export type ConnectProbe = NonNullable<FlowStatusView['probe']>;

/** State of the sign-in at one server. */
export type ConnectState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'waiting';
      /** Gateway address at which the sign-in continues. */
      readonly address: string;
      /** `blocked`: the browser blocked the pop-up. `away`: closed, or showing an isolated site. */
      readonly window: 'open' | 'blocked' | 'away';
      readonly isCanceling?: boolean;
    }
  | { readonly kind: 'connected'; readonly at: number; readonly probe?: ConnectProbe }
  /** The sign-in started and failed. */
  | { readonly kind: 'failed'; readonly error: FlowError }
  /** The gateway refused to start the sign-in or to report its status. */
  | { readonly kind: 'refused'; readonly error: unknown };

export function isInProgress({ kind }: ConnectState): boolean {
  return kind === 'starting' || kind === 'waiting';
}

/** Text about the state of a sign-in. */
interface ConnectText {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Returns the text of a state, or undefined for `idle`. */
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

/** Returns the text of an error code. Falls back to a generic text for codes of a newer gateway. */
function flowErrorText(error: string): { readonly title: string; readonly text: string } {
  const { errors } = strings.connect;
  return Object.hasOwn(errors, error) ? errors[error as FlowError] : errors.callback_failed;
}

/** Returns the reason for a sign-in, or an empty string for an unknown reason. */
export function describeSignInReason(reason: string): string {
  const { reasons } = strings.connect;
  return (Object.hasOwn(reasons, reason) && reasons[reason]) || '';
}
