import { explainCode } from '../../api/explain.ts';
import { formatAgo, formatNear } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import type { ServerState, StateKind } from './serverState.ts';

export const stateTones: Readonly<Record<StateKind, Tone>> = {
  unknown: 'neutral',
  connected: 'success',
  connecting: 'info',
  idle: 'neutral',
  per_request: 'neutral',
  needs_sign_in: 'warning',
  signing_in: 'info',
  needs_values: 'warning',
  refused: 'danger',
  unreachable: 'danger',
  failing: 'danger',
  left_alone: 'danger',
  not_yours: 'neutral',
};

/** A few words, with the time that matters. */
export function stateLabel({ kind, since, retryAt = 0 }: ServerState): string {
  const text = strings.servers;
  if (kind === 'left_alone' && retryAt > Date.now()) return text.leftAloneUntil(formatNear(retryAt));
  if (kind === 'unreachable' && since !== undefined) return text.unreachableSince(formatNear(since));
  return text.states[kind];
}

/** What it means, in sentences. */
export function stateSentences(state: ServerState, isSignInThere: boolean): string {
  const { servers } = strings;
  const { kind, since, retryAt = 0 } = state;
  const { stateTexts } = servers;
  const isTriedLater = retryAt > Date.now();
  switch (kind) {
    case 'needs_sign_in':
      return isSignInThere ? stateTexts.sign_in_there : stateTexts.sign_in_here;
    case 'left_alone':
      return isTriedLater ? servers.leftAloneText(formatNear(retryAt)) : stateTexts.left_alone;
    case 'refused':
    case 'unreachable':
    case 'failing':
      return [
        since === undefined ? '' : servers.since(formatNear(since), formatAgo(since)),
        isTriedLater ? servers.triedAgainAt(formatNear(retryAt)) : '',
      ]
        .filter(Boolean)
        .join(' ');
    default:
      return stateTexts[kind];
  }
}

export interface ProblemText {
  readonly title: string;
  readonly advice: string;
}

/** What failed and what to do about it, in words for people. */
export function problemOf(code: string): ProblemText {
  const { advice, states } = strings.servers;
  const known = explainCode(code);
  return { title: known?.title ?? states.unreachable, advice: advice[code] ?? known?.text ?? '' };
}

/** The same of a state, where its own words do not say all of it. */
export function problemIn({ kind, code }: ServerState): ProblemText | undefined {
  const isTold = code === undefined || code === 'MCP_AUTHORIZATION_REQUIRED' || kind === 'needs_values';
  return isTold ? undefined : problemOf(code);
}
