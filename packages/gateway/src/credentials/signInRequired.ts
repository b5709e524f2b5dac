import type { SignInReason } from './signInReason.ts';

export interface SignInDetail {
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
