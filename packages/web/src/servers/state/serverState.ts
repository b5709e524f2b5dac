import type { ServerStatus, ServerToolsView, ServerView } from '@behalf/contracts';
import { explainErrorCode } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatAgo, formatTimeOrDate } from '../../ui/format.ts';

/** The state of a server for the current user. */
export interface ServerState {
  readonly kind: StateKind;
  /** The error code. */
  readonly code?: string;
  /** Since when the problem exists, and when the next attempt takes place, in milliseconds since the epoch. */
  readonly since?: number;
  readonly retryAt?: number;
}

export type StateKind =
  | 'unknown'
  | 'connected'
  | 'connecting'
  | 'idle'
  /** A connection is opened for each request of a chat. */
  | 'per_request'
  | 'needs_sign_in'
  /** A sign-in is in progress, here or in another window. */
  | 'signing_in'
  | 'needs_values'
  /** The server refuses the credential. */
  | 'refused'
  | 'unreachable'
  /** Another error. */
  | 'failing'
  /** The circuit breaker is open after repeated failures. */
  | 'paused'
  /** The user manages the server but may not use it. */
  | 'not_shared';

/** The state of the last tool list. */
export type ToolListStatus = Pick<ServerToolsView, 'state' | 'code'>;

/** States that require an action by the user or an administrator. */
const attentionKinds: ReadonlySet<StateKind> = new Set([
  'needs_sign_in',
  'needs_values',
  'refused',
  'unreachable',
  'failing',
  'paused',
]);

/** Error codes that a new sign-in at the organization resolves. */
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
 * Combines the polled status with the tool list, which was requested once. The status is newer, but only the list
 * knows whether there is a sign-in to exchange. `null`: the caller may not use the server. `undefined`: not known
 * yet.
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

/** Whether the sign-in takes place at the server itself, or at the organization whose token is exchanged. */
export function requiresServerSignIn(
  view: Pick<ServerView, 'requiresOAuth'>,
  status: ServerStatus | null | undefined,
): boolean {
  return view.requiresOAuth || status?.requiresOAuth === true;
}

export type Origin = 'configuration' | 'override' | 'yours' | 'shared' | 'managed';

/** The source of a server from the user's perspective. */
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

/** A short label, with a time where it matters. */
export function stateLabel({ kind, since, retryAt = 0 }: ServerState): string {
  const words = strings.servers;
  if (kind === 'paused' && retryAt > Date.now()) return words.pausedUntil(formatTimeOrDate(retryAt));
  if (kind === 'unreachable' && since !== undefined) return words.unreachableSince(formatTimeOrDate(since));
  return words.states[kind];
}

/** An explanation of the state. */
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

/** What failed and what to do, in words for users. */
export function describeErrorCode(code: string): ProblemText {
  const { advice, states } = strings.servers;
  const known = explainErrorCode(code);
  return { title: known?.title ?? states.unreachable, advice: advice[code] ?? known?.text ?? '' };
}

/** The error of a state, unless the state's own text says it all. */
export function stateProblem({ kind, code }: ServerState): ProblemText | undefined {
  const isDescribed = code === undefined || code === 'MCP_AUTHORIZATION_REQUIRED' || kind === 'needs_values';
  return isDescribed ? undefined : describeErrorCode(code);
}
