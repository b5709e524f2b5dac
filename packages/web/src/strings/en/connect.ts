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

/** Texts about the credentials that a user stored for a server. */
export const credentials = {
  title: 'Sign-in to this server',
  text: 'You use this server with your own account. Credentials are stored encrypted and never shown.',
  none: 'You are not signed in.',
  listTitle: 'Your sign-ins',
  defaultName: 'Your sign-in',
  kinds: { oauth_code: 'Signed in', static: 'Access token' },
  defaultBadge: 'Default',
  active: 'Active',
  expires: 'Expires',
  signInAgain: 'Sign in again',
  renewedUntil: (moment: string) => `Renewed automatically. The current token is valid until ${moment}.`,
  renewedOnUse: 'Renewed automatically on the next use.',
  expiresAt: (moment: string) => `Expires at ${moment} and cannot be renewed. Sign in again after that.`,
  noExpiry: 'No expiry known.',
  issuer: 'Issuer',
  scopes: 'Scopes',
  fingerprint: 'Fingerprint',
  lastUsed: 'Last used',
  neverUsed: 'Never',
  added: 'Added',
  details: 'Details',
  makeDefault: 'Make default',
  makeDefaultOf: (label: string) => `Make ${label} the default`,
  madeDefault: (label: string) => `${label} is now the default`,
  disconnect: 'Disconnect',
  disconnectOf: (label: string) => `Disconnect ${label}`,
  disconnectTitle: (label: string) => `Disconnect ${label}?`,
  disconnectText:
    'The gateway deletes this sign-in and asks the authorization server to revoke it. You can connect again at any time.',
  disconnected: 'Disconnected',
  alreadyDisconnected: 'Already disconnected',
  revoked: {
    yes: 'The authorization server revoked the sign-in.',
    failed:
      'The gateway deleted the sign-in, but could not revoke it at the authorization server. It may stay valid there: end it in your account settings.',
    unsupported:
      'The gateway deleted the sign-in. The authorization server does not support revocation: it may stay valid there until it expires or you end it in your account settings.',
    none: 'The gateway deleted the sign-in. There was nothing to revoke.',
  },
  connectAnother: 'Connect another account',
  anotherTitle: 'Connect another account',
  anotherText: 'Enter a name to tell your accounts apart.',
  label: 'Name',
  labelHint: 'A name that only you see, for example “Work”.',
  labelMissing: 'Enter a name.',
  labelTaken: 'You already use this name.',

  useToken: 'Use an access token instead',
  useTokenText:
    'Enter a token that was issued for this server. It is stored encrypted and never shown again.',
  token: 'Access token',
  tokenMissing: 'Enter the token.',
  tokenOptions: 'Expiry and renewal',
  refreshToken: 'Refresh token',
  refreshTokenHint: 'A refresh token also requires the issuer and the client ID.',
  issuerHint: 'URL of the authorization server that issued the token.',
  clientId: 'Client ID',
  clientIdHint: 'The client that the token was issued to. This server must use the same client.',
  expiresIn: 'Expires in (seconds)',
  expiresInWrong: 'Enter a whole number of 1 or more.',
  requiredWithRefreshToken: 'Required with a refresh token.',
  saveToken: 'Save token',
  tokenSaved: 'Token saved',
};
