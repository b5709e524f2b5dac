import { HiddenText, type Cancellation } from '@behalf/kernel';
import type { RefreshTokenUse } from '../../identity/openid/loginTokens.ts';
import type { Principal } from '../../principal/principal.ts';
import type { SignInReason } from '../signInRequired.ts';
import type { BorrowedToken, BorrowResult } from '../vault/vault.ts';

/** The user's own token that an exchange presents: from the request, or from the user's login. */
export interface Subject {
  /** Issuer and subject of the user at the identity provider. */
  readonly issuer: string;
  readonly subject: string;
  readonly token: HiddenText;
  /**
   * SHA-256 of the token, base64url. Part of the cache key. For a refresh token it is the hash of its login instead: rotation replaces
   * the token, and tokens exchanged before remain valid.
   */
  readonly hash: string;
  readonly expiresAt: number;
  /** The source of the token. It determines how the caller can obtain a new one. */
  readonly via: 'session' | 'bearer';
  /** Set for a refresh token only. The vault grants exclusive use, and `token` cannot be revealed. */
  readonly withRefreshToken?: UseRefreshToken | undefined;
}

/** One exclusive use of a refresh token. */
export type UseRefreshToken = <T>(
  signal: Cancellation,
  work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
) => Promise<RefreshTokenUse<T>>;

/**
 * The token of the user that a provider exchanges. `id_or_refresh_token`: the ID token until it expires, then the refresh token. ID and
 * refresh tokens come from a login at this gateway only, never from a request.
 */
export type SubjectKind = 'access_token' | 'id_token' | 'refresh_token' | 'id_or_refresh_token';

/** Replaces a refresh token, which never leaves the vault. */
export class RefreshTokenPlaceholder extends HiddenText {
  constructor() {
    super('');
  }
  override reveal(): never {
    throw new Error('The text of a refresh token is not available outside the vault');
  }
}

/** The caller has no token that can be exchanged. No request was sent. */
export class SubjectUnavailable extends Error {
  override readonly name = 'SubjectUnavailable';
  readonly reason: Extract<SignInReason, 'absent' | 'expired_no_refresh'>;
  readonly via: Subject['via'];
  constructor(reason: SubjectUnavailable['reason'], via: Subject['via'] = 'session') {
    super(`The caller has no token to exchange: ${reason}`);
    this.reason = reason;
    this.via = via;
  }

  /** The error code that callers and the audit receive. */
  get code(): 'OBO_SUBJECT_TOKEN_MISSING' | 'OBO_SUBJECT_TOKEN_EXPIRED' {
    return this.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING' : 'OBO_SUBJECT_TOKEN_EXPIRED';
  }
}

/** Provides the subject token of a caller. It never comes from a request body. */
export interface SubjectSource {
  /**
   * Returns without I/O if the subject is cached. Throws or rejects with SubjectUnavailable, or with GatewayError `API_KEY_SCOPE` if the
   * caller's API key does not permit exchanges.
   */
  current(principal: Principal, kind?: SubjectKind): Subject | Promise<Subject>;
  /** Checks without decrypting or refreshing a token. Returns why the caller has no subject token; undefined if they may have one. */
  checkSubject(principal: Principal): Promise<SubjectUnavailable['reason'] | undefined>;
  close(): void;
}
