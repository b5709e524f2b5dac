import type { ErrorCode } from '@behalf/contracts';
import type { SignInReason } from './signInReason.ts';

export interface ReauthDetail {
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
