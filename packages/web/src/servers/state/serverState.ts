import type { ServerStatus, ServerToolsView, ServerView } from '@behalf/contracts';

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
