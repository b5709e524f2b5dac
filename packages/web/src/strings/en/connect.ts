import type { FlowError } from '@behalf/contracts';

export interface FlowErrorText {
  readonly title: string;
  readonly text: string;
}

/** Why a sign-in to a server failed, and what to do. */
const errors: Readonly<Record<FlowError, FlowErrorText>> = {
  access_denied: {
    title: 'Access was denied',
    text: 'Nothing was connected. Connect again if this was a mistake.',
  },
  server_error: {
    title: 'The authorization server failed',
    text: 'Try again later.',
  },
  temporarily_unavailable: {
    title: 'The authorization server is busy',
    text: 'Try again in a few minutes.',
  },
  invalid_scope: {
    title: 'The authorization server does not support the requested scopes',
    text: 'Ask the operator to check the scopes of this server.',
  },
  provider_error: {
    title: 'The authorization server rejected the request',
    text: 'Connect again. If this repeats, contact the operator.',
  },
  missing_code: {
    title: 'The authorization server returned no code',
    text: 'Connect again. If this repeats, contact the operator.',
  },
  missing_state: {
    title: 'The sign-in response is incomplete',
    text: 'Nothing was connected. Connect again.',
  },
  invalid_state: {
    title: 'The response belongs to another sign-in',
    text: 'It may come from an older window. Close that window and connect again.',
  },
  csrf_validation_failed: {
    title: 'The sign-in was finished in another browser',
    text: 'Nothing was connected. Connect again, and finish in this browser.',
  },
  issuer_mismatch: {
    title: 'The response came from another authorization server',
    text: 'Nothing was connected. If this repeats, contact the operator.',
  },
  code_refused: {
    title: 'The authorization code was rejected',
    text: 'It may have expired. Connect again.',
  },
  token_exchange_failed: {
    title: 'The authorization server issued no token',
    text: 'Try again later. If this repeats, contact the operator.',
  },
  probe_refused: {
    title: 'The server rejected your sign-in',
    text: 'Your account may not have access. Connect with another account, or contact the owner of the server.',
  },
  config_changed: {
    title: 'The server was changed during the sign-in',
    text: 'Nothing was connected. Connect again.',
  },
  superseded: {
    title: 'Another sign-in to this server finished first',
    text: 'If that was you, there is nothing more to do.',
  },
  cancelled: { title: 'Sign-in canceled', text: 'Nothing was connected.' },
  expired: {
    title: 'The sign-in timed out',
    text: 'Nothing was connected. Connect again, and finish within a few minutes.',
  },
  flow_used: { title: 'This sign-in has already ended', text: 'Connect again.' },
  flow_unknown: { title: 'This sign-in has expired', text: 'Connect again.' },
  flow_forbidden: {
    title: 'This sign-in belongs to another user',
    text: 'Nothing was connected. Start your own sign-in.',
  },
  callback_failed: {
    title: 'The sign-in could not be completed',
    text: 'Connect again. If this repeats, contact the operator.',
  },
};

/** Why a user has to sign in. */
const reasons: Readonly<Record<string, string>> = {
  absent: 'You are not signed in to this server.',
  expired_no_refresh: 'Your sign-in expired and cannot be renewed.',
  rejected: 'Your sign-in is no longer accepted. It may have been revoked.',
  lost_rotation: 'Your sign-in was lost while it was renewed.',
  revoked: 'Your sign-in was ended by you or by an administrator.',
  unbound: 'The server settings changed after you signed in.',
  unreadable: 'Your stored sign-in cannot be read.',
  insufficient_scope: 'Your sign-in lacks the required permissions.',
  interaction_required: 'The authorization server needs your consent or a second factor.',
  audience_or_policy:
    'The server rejects even a new sign-in. Try another account, or contact the owner of the server.',
  static_rejected: 'The server rejected your access token. Enter another one, or sign in.',
};

/** Texts of signing in to a server. */
export const connect = {
  signInTitle: (server: string) => `Sign in to ${server} to continue`,
  connect: 'Connect',
  connectTo: (title: string) => `Connect ${title}`,
  connectAgain: 'Connect again',
  starting: 'Connecting…',
  reopen: 'Reopen window',
  continueHere: 'Continue in this window',
  cancel: 'Cancel',
  canceling: 'Canceling…',
  waitingTitle: 'Waiting for you to sign in',
  waitingText: 'Finish signing in in the other window. This page continues automatically.',
  windowClosed: 'If you closed that window, reopen it.',
  blockedTitle: 'Your browser blocked the sign-in window',
  blockedText:
    'Allow pop-ups for this page and reopen the window, or continue in this window. You return to this page.',
  scopes: 'Requested scopes:',
  connectedTitle: 'Connected',
  probes: {
    ok: 'The server accepted your sign-in.',
    unverified: 'The server also answers without a sign-in, so yours could not be verified.',
    unreachable: 'You are signed in, but the server could not be reached to verify it.',
  },
  otherUserTitle: 'This link is for another user',
  otherUserText:
    'Nothing was started. If someone sent you this link, they may be after your account. Do not continue.',
  expiredTitle: 'This link has expired',
  expiredText: 'Nothing was started. Request a new link, or open the server page.',
  openServer: 'Open server',
  signIn: 'Sign in',
  returnHint: 'You return to this page. Then try again.',
  unavailable: 'You cannot connect from here. The server page says what is missing.',
  errors,
  reasons,
};
