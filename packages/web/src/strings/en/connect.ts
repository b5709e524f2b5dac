import type { FlowError } from '@behalf/contracts';

export interface Told {
  readonly title: string;
  readonly text: string;
}

/** Why a sign-in at a server did not succeed, and what to do. */
const errors: Readonly<Record<FlowError, Told>> = {
  access_denied: {
    title: 'You did not allow it',
    text: 'Nothing was connected. Connect again if that was a mistake.',
  },
  server_error: {
    title: 'The sign-in service failed',
    text: 'Try again in a while.',
  },
  temporarily_unavailable: {
    title: 'The sign-in service is busy',
    text: 'Try again in a few minutes.',
  },
  invalid_scope: {
    title: 'The sign-in service does not offer what this server asks for',
    text: 'Ask the operator to check the scopes of this server.',
  },
  provider_error: {
    title: 'The sign-in service refused',
    text: 'Connect again. If it refuses again, tell the operator.',
  },
  missing_code: {
    title: 'The sign-in service gave no answer that can be used',
    text: 'Connect again. If it happens again, tell the operator.',
  },
  missing_state: {
    title: 'What came back belongs to no sign-in',
    text: 'Nothing was accepted. Connect again.',
  },
  invalid_state: {
    title: 'What came back belongs to another sign-in',
    text: 'It may come from an older window. Close that one and connect again.',
  },
  csrf_validation_failed: {
    title: 'The sign-in was finished in another browser',
    text: 'Nothing was accepted. Connect again, and finish it in this browser.',
  },
  issuer_mismatch: {
    title: 'The answer came from another sign-in service',
    text: 'Nothing was accepted. If it happens again, tell the operator.',
  },
  code_refused: {
    title: 'The sign-in service did not take its own answer back',
    text: 'It may have taken too long. Connect again.',
  },
  token_exchange_failed: {
    title: 'The sign-in service gave no token',
    text: 'Try again in a while. If it fails again, tell the operator.',
  },
  probe_refused: {
    title: 'The server does not accept the new sign-in',
    text: 'The account you chose may not use it. Connect again with another one, or ask its owner.',
  },
  config_changed: {
    title: 'The server was changed while you signed in',
    text: 'Nothing was connected. Connect again.',
  },
  superseded: {
    title: 'Another sign-in at this server was finished first',
    text: 'That one counts. If it was yours, there is nothing more to do.',
  },
  cancelled: { title: 'The sign-in was cancelled', text: 'Nothing was connected.' },
  expired: {
    title: 'The sign-in took too long',
    text: 'Nothing was connected. Connect again, and finish it within a few minutes.',
  },
  flow_used: { title: 'This sign-in is over already', text: 'Connect again.' },
  flow_unknown: { title: 'This sign-in is not known any more', text: 'Connect again.' },
  flow_forbidden: {
    title: 'This sign-in belongs to somebody else',
    text: 'Nothing was connected. Begin your own.',
  },
  callback_failed: {
    title: 'The sign-in could not be finished',
    text: 'Connect again. If it fails again, tell the operator.',
  },
};

/** Why somebody has to sign in. */
const reasons: Readonly<Record<string, string>> = {
  absent: 'You have not signed in there yet.',
  expired_no_refresh: 'Your sign-in has ended, and it cannot be renewed by itself.',
  rejected: 'Your sign-in is not accepted any more. It may have been ended where your account is.',
  lost_rotation: 'Your sign-in was lost while it was being renewed. That is not your fault.',
  revoked: 'Your sign-in was ended, by you or by an administrator.',
  unbound: 'The server leads elsewhere than when you signed in, so the old sign-in is not used any more.',
  unreadable: 'Your stored sign-in cannot be read any more.',
  insufficient_scope: 'Your sign-in does not reach far enough for this. Signing in again asks for more.',
  interaction_required: 'It asks something of you first, such as your consent or a second factor.',
  audience_or_policy:
    'The server refuses even a new sign-in. Try another account there, or ask who looks after the server.',
  static_rejected: 'The server refuses the token that you brought. Bring another one, or sign in.',
};

/** Words of signing in at a server, wherever it is begun. */
export const connect = {
  neededTitle: 'A server needs you to sign in',
  connect: 'Connect',
  connectTo: (title: string) => `Connect ${title}`,
  again: 'Connect again',
  starting: 'Connecting',
  reopen: 'Open the window again',
  here: 'Go on in this window',
  cancel: 'Cancel',
  ending: 'Cancelling',
  waitingTitle: 'Waiting for you to sign in',
  waiting: 'Finish signing in in the window that opened. This page goes on by itself.',
  away: 'If that window is closed, open it again.',
  blockedTitle: 'Your browser did not open a window',
  blocked: 'Allow windows of this page and open it again, or go on in this window. You come back here.',
  scopes: 'What it asks for:',
  connectedTitle: 'Connected',
  probes: {
    ok: 'The server answered with your new sign-in.',
    unverified:
      'The server answers without a sign-in as well, so whether it takes yours could not be found out.',
    unreachable: 'You are signed in, but the server could not be reached to try it.',
  },
  foreignTitle: 'This link is for somebody else',
  foreignText:
    'A program asked another user to connect this server, and the link is theirs alone. Nothing was started. If somebody sent it to you, they may want your account: do not go on.',
  expiredTitle: 'This link is too old',
  expiredText: 'Nothing was started. What needed it gives you another one, or open the server itself.',
  openServer: 'Open the server',
  signIn: 'Sign in',
  comeBack: 'You come back to this page. Then try it again.',
  nowhere: 'It cannot be connected from here. Its page says what is missing.',
  errors,
  reasons,
};
