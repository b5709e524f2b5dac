import type { ServerStatus, ServerToolsView, ServerView } from '@behalf/contracts';
import { explainErrorCode } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatAgo, formatTimeOrDate } from '../../ui/format.ts';

/** How a server stands for the person in front of it. */
export interface ServerState {
  readonly kind: StateKind;
  /** What went wrong, by its code. */
  readonly code?: string;
  /** Since when it is so, and when it is tried again; milliseconds since 1970. */
  readonly since?: number;
  readonly retryAt?: number;
}

export type StateKind =
  | 'unknown'
  | 'connected'
  | 'connecting'
  | 'idle'
  /** It is connected for each request of a chat. */
  | 'per_request'
  | 'needs_sign_in'
  /** Somebody is at it, here or in another window. */
  | 'signing_in'
  | 'needs_values'
  /** The credential it is given is not accepted. */
  | 'refused'
  | 'unreachable'
  /** It is there, or nobody tried, and something else is wrong. */
  | 'failing'
  /** It failed so often that it is not asked for a while. */
  | 'paused'
  /** Somebody looks after it without being allowed to use it. */
  | 'not_shared';

/** What the last list of its tools said. */
export type ToolListStatus = Pick<ServerToolsView, 'state' | 'code'>;

/** What is to be done by somebody before it works. */
const attentionKinds: ReadonlySet<StateKind> = new Set([
  'needs_sign_in',
  'needs_values',
  'refused',
  'unreachable',
  'failing',
  'paused',
]);

/** Codes that another sign-in at the organisation settles. */
export const organizationSignInCodes: ReadonlySet<string> = new Set([
  'OBO_SUBJECT_TOKEN_MISSING',
  'OBO_SUBJECT_TOKEN_EXPIRED',
  'OBO_REJECTED',
  'OBO_CONSENT_REQUIRED',
  'OPENID_REAUTH_REQUIRED',
]);

export function needsAttention({ kind }: ServerState): boolean {
  return attentionKinds.has(kind);
}

/**
 * From what is asked every few seconds and what was listed once. The first is younger, but does not know whether there
 * is a sign-in to exchange; the list does. `null`: not for the caller to use. `undefined`: not known yet.
 */
export function toServerState(
  view: Pick<ServerView, 'requestScoped'>,
  status: ServerStatus | null | undefined,
  toolList: ToolListStatus | null | undefined,
): ServerState {
  if (status === null) return { kind: 'not_shared' };
  if (!status) return { kind: 'unknown' };
  const { connectionState, code, since, retryAt } = status;
  const details = {
    ...(code !== undefined && { code }),
    ...(since !== undefined && { since }),
    ...(retryAt !== undefined && { retryAt }),
  };
  if (status.configurationState === 'needs_configuration') return { kind: 'needs_values', ...details };
  if (status.authorizationState === 'needs_authorization') return { kind: 'needs_sign_in', ...details };
  if (status.authorizationState === 'authorizing') return { kind: 'signing_in' };
  if (connectionState === 'connecting') return { kind: 'connecting' };
  if (code !== undefined) return { kind: stateKindOf(code), ...details };
  if (connectionState === 'error') return { kind: 'unreachable', ...details };
  const listCode = toolList && toolList.state !== 'connected' ? toolList.code : undefined;
  const listKind = listCode === undefined ? undefined : stateKindOf(listCode);
  if (listCode !== undefined && listKind === 'needs_sign_in') return { kind: listKind, code: listCode };
  if (connectionState === 'connected') return { kind: 'connected' };
  if (view.requestScoped) return { kind: 'per_request' };
  if (listCode === undefined || listKind === undefined) return { kind: 'idle' };
  return { kind: listKind, code: listCode };
}

function stateKindOf(code: string): StateKind {
  if (organizationSignInCodes.has(code)) return 'needs_sign_in';
  switch (code) {
    case 'MCP_BREAKER_OPEN':
      return 'paused';
    case 'MCP_CREDENTIAL_REJECTED':
      return 'refused';
    case 'MCP_AUTHORIZATION_REQUIRED':
    case 'MCP_AUTHORIZATION_UNAVAILABLE':
      return 'needs_sign_in';
    case 'MCP_USER_VARS_MISSING':
      return 'needs_values';
    case 'MCP_UNREACHABLE':
    case 'MCP_TIMEOUT':
      return 'unreachable';
    default:
      return 'failing';
  }
}

/** Where the sign-in is missing: at the server itself, or at the organisation whose token is exchanged for it. */
export function requiresServerSignIn(
  view: Pick<ServerView, 'requiresOAuth'>,
  status: ServerStatus | null | undefined,
): boolean {
  return view.requiresOAuth || status?.requiresOAuth === true;
}

export type Origin = 'configuration' | 'override' | 'yours' | 'shared' | 'managed';

/** Where a server comes from, for this person. */
export function serverOrigin(
  { source, author }: Pick<ServerView, 'source' | 'author'>,
  userId: string | undefined,
  stateKind: StateKind,
): Origin {
  if (source === 'yaml') return 'configuration';
  if (source === 'config') return 'override';
  if (author !== undefined && author === userId) return 'yours';
  return stateKind === 'not_shared' ? 'managed' : 'shared';
}

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

interface ProblemText {
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
