import { HiddenText, type Cancellation } from '@behalf/kernel';
import type { RefreshTokenUse } from '../../identity/openid/loginTokens.ts';
import type { Principal } from '../../principal/principal.ts';
import type { SignInReason } from '../signInRequired.ts';
import type { BorrowedToken, BorrowResult } from '../vault/vault.ts';

/** The caller's own token, which is exchanged: the one they presented, or the one their sign-in gave. */
export interface Subject {
  /** Who it speaks of at the identity provider. */
  readonly issuer: string;
  readonly subject: string;
  readonly token: HiddenText;
  /**
   * SHA-256 of the token, base64url: tells two tokens apart without showing either. Of a refresh token, of the sign-in that it belongs to:
   * another may take its place at any moment, and what was exchanged stays good.
   */
  readonly hash: string;
  readonly expiresAt: number;
  /** Where it came from: decides how a caller is told that it is no good any more. */
  readonly via: 'session' | 'bearer';
  /** Of a refresh token alone: it is sent under its vault's eyes, and `token` shows nobody anything. */
  readonly withRefreshToken?: UseRefreshToken | undefined;
}

/** One use of a refresh token, which nobody else uses meanwhile. */
export type UseRefreshToken = <T>(
  signal: Cancellation,
  work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
) => Promise<RefreshTokenUse<T>>;

/**
 * Which of a user's tokens is exchanged; `id_or_refresh_token`: an ID token while it is good. But for access tokens it is never one that a
 * request brought: it is of a sign-in here.
 */
export type SubjectKind = 'access_token' | 'id_token' | 'refresh_token' | 'id_or_refresh_token';

/** In the place of a refresh token, which only its vault has. */
export class RefreshTokenPlaceholder extends HiddenText {
  constructor() {
    super('');
  }
  override reveal(): never {
    throw new Error('The text of a refresh token is not available outside the vault');
  }
}

/** There is no token of the caller's to exchange. Nothing was sent. */
export class SubjectUnavailable extends Error {
  override readonly name = 'SubjectUnavailable';
  readonly reason: Extract<SignInReason, 'absent' | 'expired_no_refresh'>;
  readonly via: Subject['via'];
  constructor(reason: SubjectUnavailable['reason'], via: Subject['via'] = 'session') {
    super(`The caller has no token to exchange: ${reason}`);
    this.reason = reason;
    this.via = via;
  }
}

/** Where subjects come from. Never from a request's body. */
export interface SubjectSource {
  /**
   * At once while it is known. Rejects or throws with SubjectUnavailable, or with a GatewayError (`API_KEY_SCOPE`) when
   * this caller may not exchange at all.
   */
  current(principal: Principal, kind?: SubjectKind): Subject | Promise<Subject>;
  /**
   * Why this caller certainly has none, as far as it can be told without opening or renewing a token; undefined: they may have
   * one.
   */
  checkSubject(principal: Principal): Promise<SubjectUnavailable['reason'] | undefined>;
  close(): void;
}
