import type { ErrorCode } from '@behalf/contracts';

/**
 * Why a user must act before a server can be called. `absent`: they never signed in there. `expired_no_refresh`: it is over and
 * cannot be renewed. `rejected`: it is not taken any more. `lost_rotation`: its renewal was lost on the way. `revoked`: they, or
 * an administrator, ended it. `unbound`: it was given for another address, issuer or client. `unreadable`: it does not open with
 * our key. `insufficient_scope`: it does not reach far enough. `interaction_required`: the provider wants something of them first.
 * `audience_or_policy`: the server refuses even a new one. `static_rejected`: the token they brought is refused.
 */
export const signInReasons = [
  'absent',
  'expired_no_refresh',
  'rejected',
  'lost_rotation',
  'revoked',
  'unbound',
  'unreadable',
  'insufficient_scope',
  'interaction_required',
  'audience_or_policy',
  'static_rejected',
] as const;
export type SignInReason = (typeof signInReasons)[number];

interface SignInDetail {
  /** The credential that is of no use any more; none where there never was one. */
  readonly credentialId?: string | undefined;
  /** What the next sign-in has to reach, separated by blanks. */
  readonly scopes?: string | undefined;
  /** What it has to prove: JSON text. Never shown. */
  readonly claims?: string | undefined;
}

/** The user must sign in at the server before it can be called in their name. Nothing else takes the place of that. */
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
  /** By what the caller is known here: a browser signs in anew, a program brings another token. */
  readonly via: 'session' | 'bearer';
  /** What the next sign-in has to prove: JSON text. */
  readonly claims?: string | undefined;
}

/** The user must sign in here again before their token can be exchanged. Nothing was sent to the server. */
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
