import type { FlowError } from '@behalf/contracts';
import { explain } from '../api/explain.ts';
import { strings } from '../strings/strings.ts';
import type { Tone } from '../ui/Badge.tsx';
import type { ConnectState } from './connectState.ts';

/** What is said of a sign-in while it goes on, and of how it ended. */
export interface ConnectText {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Undefined where there is nothing to say yet. */
export function connectText(state: ConnectState): ConnectText | undefined {
  const words = strings.connect;
  switch (state.kind) {
    case 'idle':
      return undefined;
    case 'starting':
      return { tone: 'info', title: words.starting, text: '' };
    case 'waiting':
      if (state.window === 'blocked')
        return { tone: 'warning', title: words.blockedTitle, text: words.blocked };
      return {
        tone: 'info',
        title: words.waitingTitle,
        text: state.window === 'away' ? `${words.waiting} ${words.away}` : words.waiting,
      };
    case 'connected':
      return {
        tone: state.probe === 'unreachable' ? 'warning' : 'success',
        title: words.connectedTitle,
        text: state.probe ? words.probes[state.probe] : '',
      };
    case 'failed':
      return { tone: 'danger', ...errorText(state.error) };
    case 'refused':
      return { tone: 'danger', ...explain(state.error) };
  }
}

/** A gateway that is newer than this page may have a word that it does not know. */
function errorText(error: string): { readonly title: string; readonly text: string } {
  const { errors } = strings.connect;
  return Object.hasOwn(errors, error) ? errors[error as FlowError] : errors.callback_failed;
}

/** Why a sign-in is needed; nothing for a reason that has no words yet. */
export function reasonText(reason: string): string {
  const { reasons } = strings.connect;
  return (Object.hasOwn(reasons, reason) && reasons[reason]) || '';
}
