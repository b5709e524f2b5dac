/** Tokens as an authorization server gave them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly refreshToken?: string | undefined;
  /** There was a refresh token in the answer, and nobody could ever send it: the one before it may be over all the same. */
  readonly isRefreshTokenUnusable?: boolean;
  readonly idToken?: string | undefined;
  /** As the answer said, read leniently: null when it said nothing; 0 or less: over already. */
  readonly expiresInS: number | null;
  /** As granted; undefined when the answer does not say. */
  readonly scope?: string | undefined;
}

/** What became of one request to a token endpoint, decided by status and OAuth code alone. */
export type TokenEndpointResult =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet; readonly sentAt: number }
  /** `invalid_grant`: what was sent is dead. */
  | { readonly kind: 'rejected'; readonly error: string }
  /** `invalid_client`, `unauthorized_client`. */
  | { readonly kind: 'client_refused'; readonly error: string }
  /** `invalid_scope`, `invalid_target`, `unsupported_grant_type`, `invalid_request`. */
  | { readonly kind: 'misconfigured'; readonly error: string }
  /** `interaction_required` and its like; `claims` as JSON text. */
  | { readonly kind: 'user_needed'; readonly error: string; readonly claims?: string | undefined }
  /** Nothing was consumed: it never arrived, or it was put off. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs?: number | undefined }
  /** Sent, and the answer is lost or says nothing: it may have been consumed. */
  | { readonly kind: 'in_doubt'; readonly status?: number | undefined }
  /** 404 or 405. */
  | { readonly kind: 'moved'; readonly status: number }
  /** Another 4xx without an OAuth error: never destructive. */
  | { readonly kind: 'unintelligible'; readonly status: number };
