import type { ErrorCode } from '@behalf/contracts';

/** Why the user must sign in before a server can be called. */
export const signInReasons = [
  /** The user never signed in. */
  'absent',
  /** The access token expired and there is no refresh token. */
  'expired_no_refresh',
  /** The authorization server rejected the refresh token. */
  'rejected',
  /** The response to a refresh was lost, and with it the new refresh token. */
  'lost_rotation',
  /** The user or an administrator ended the grant. */
  'revoked',
  /** The grant is for another address, issuer or client than the server has now. */
  'unbound',
  /** The tokens cannot be decrypted with the gateway's keys. */
  'unreadable',
  /** The token has too few scopes. */
  'insufficient_scope',
  /** The identity provider requires an interaction with the user, such as a second factor. */
  'interaction_required',
  /** The server rejects even a new token. */
  'audience_or_policy',
  /** The server rejected an imported token. */
  'static_rejected',
] as const;
export type SignInReason = (typeof signInReasons)[number];

interface SignInDetail {
  /** The unusable credential, if there is one. */
  readonly credentialId?: string | undefined;
  /** The scopes that the next sign-in must request, separated by spaces. */
  readonly scopes?: string | undefined;
  /** A claims request for the next sign-in, as JSON text. Never shown. */
  readonly claims?: string | undefined;
}

/** The user must sign in at the server before the gateway can call it on their behalf. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
  readonly reason: SignInReason;
  readonly detail: SignInDetail;
  constructor(reason: SignInReason, detail: SignInDetail = {}, cause?: unknown) {
    super(`The user must sign in at the server: ${reason}`, { cause });
    this.reason = reason;
    this.detail = detail;
  }
}

interface ReauthDetail {
  readonly code: Extract<
    ErrorCode,
    'OBO_SUBJECT_TOKEN_MISSING' | 'OBO_SUBJECT_TOKEN_EXPIRED' | 'OBO_REJECTED' | 'OBO_CONSENT_REQUIRED'
  >;
  /** How the caller authenticated: a browser signs in again, a program sends another token. */
  readonly via: 'session' | 'bearer';
  /** A claims request for the next sign-in, as JSON text. */
  readonly claims?: string | undefined;
}

/** The user must sign in to Behalf again before their token can be exchanged. Nothing was sent to the server. */
export class ReauthNeeded extends Error {
  override readonly name = 'ReauthNeeded';
  readonly reason: SignInReason;
  readonly detail: ReauthDetail;
  constructor(reason: SignInReason, detail: ReauthDetail, cause?: unknown) {
    super(`The user must sign in again: ${reason}`, { cause });
    this.reason = reason;
    this.detail = detail;
  }
}
