import { explainErrorCode } from '../../api/explain.ts';
import { formatAgo, formatTimeOrDate } from '../../hooks/formatTime.ts';
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
  paused: 'danger',
  not_shared: 'neutral',
};

/** A few words, with the time that matters. */
export function stateLabel({ kind, since, retryAt = 0 }: ServerState): string {
  const words = strings.servers;
  if (kind === 'paused' && retryAt > Date.now()) return words.pausedUntil(formatTimeOrDate(retryAt));
  if (kind === 'unreachable' && since !== undefined) return words.unreachableSince(formatTimeOrDate(since));
  return words.states[kind];
}

/** What it means, in sentences. */
export function stateDescription(state: ServerState, isSignInThere: boolean): string {
  const { servers } = strings;
  const { kind, since, retryAt = 0 } = state;
  const { stateTexts } = servers;
  const isRetryScheduled = retryAt > Date.now();
  switch (kind) {
    case 'needs_sign_in':
      return isSignInThere ? stateTexts.needs_server_sign_in : stateTexts.needs_organization_sign_in;
    case 'paused':
      return isRetryScheduled ? servers.pausedText(formatTimeOrDate(retryAt)) : stateTexts.paused;
    case 'refused':
    case 'unreachable':
    case 'failing':
      return [
        since === undefined ? '' : servers.since(formatTimeOrDate(since), formatAgo(since)),
        isRetryScheduled ? servers.nextRetryAt(formatTimeOrDate(retryAt)) : '',
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
export function describeErrorCode(code: string): ProblemText {
  const { advice, states } = strings.servers;
  const known = explainErrorCode(code);
  return { title: known?.title ?? states.unreachable, advice: advice[code] ?? known?.text ?? '' };
}

/** The same of a state, where its own words do not say all of it. */
export function stateProblem({ kind, code }: ServerState): ProblemText | undefined {
  const isDescribed = code === undefined || code === 'MCP_AUTHORIZATION_REQUIRED' || kind === 'needs_values';
  return isDescribed ? undefined : describeErrorCode(code);
}
